/// One line on a terminal that says how far something is; nothing elsewhere.
struct Progress {
    private let isShown = Terminal.standardError.isTerminal
    private var next = ContinuousClock.now
    private var isOnScreen = false

    /// Replaces the line, at most five times a second.
    mutating func show(_ text: String) {
        guard isShown, ContinuousClock.now >= next else { return }
        next = .now + .milliseconds(200)
        isOnScreen = true
        Terminal.prompt("\r\(text)\u{1B}[K")
    }

    mutating func clear() {
        if isOnScreen { Terminal.prompt("\r\u{1B}[K") }
        isOnScreen = false
    }
}
