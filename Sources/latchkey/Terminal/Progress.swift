/// One line on a terminal that says how far something is; nothing elsewhere.
struct Progress {
    private let isShown = Terminal.standardError.isTerminal
    private var next = ContinuousClock.now
    private var isOnScreen = false

    /// Replaces the line, at most five times a second.
    ///
    /// - Parameter always: however short ago the last was, as it may be the last for long.
    mutating func show(_ text: String, always: Bool = false) {
        guard isShown, always || ContinuousClock.now >= next else { return }
        next = .now + .milliseconds(200)
        isOnScreen = true
        Terminal.prompt("\r\(text)\u{1B}[K")
    }

    mutating func clear() {
        if isOnScreen { Terminal.prompt("\r\u{1B}[K") }
        isOnScreen = false
    }
}
