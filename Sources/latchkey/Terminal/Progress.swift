/// A progress line on a terminal; nothing elsewhere.
struct Progress {
    private let isShown = Terminal.standardError.isTerminal
    private var next = ContinuousClock.now
    private var isOnScreen = false

    /// Replaces the line, at most five times a second.
    ///
    /// - Parameter always: also right after the last update, because the next may be far off.
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
