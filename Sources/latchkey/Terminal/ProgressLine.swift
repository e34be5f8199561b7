/// Says on a terminal what is being done if it takes longer than a person expects; prints nothing elsewhere.
struct ProgressLine {
    static let patience = Duration.seconds(2)

    /// Ends with whether the line was shown; `nil` where there is no terminal.
    private let line: Task<Bool, Never>?

    /// Begins to wait; ``end()`` has to follow.
    ///
    /// - Parameter text: what is being done, such as "registering".
    init(_ text: String) {
        guard Terminal.standardError.isTerminal else {
            line = nil
            return
        }
        line = Task {
            guard (try? await Task.sleep(for: Self.patience)) != nil else { return false }
            Terminal.prompt("\r\(text)…\u{1B}[K")
            return true
        }
    }

    /// Clears the line, if it was shown.
    func end() async {
        line?.cancel()
        if await line?.value == true { Terminal.prompt("\r\u{1B}[K") }
    }

    /// - Parameter text: what is being done, such as "registering".
    static func show<Value>(
        _ text: String, isolation: isolated (any Actor)? = #isolation, while work: () async throws -> Value
    ) async rethrows -> Value {
        let line = ProgressLine(text)
        do {
            let value = try await work()
            await line.end()
            return value
        } catch {
            await line.end()
            throw error
        }
    }
}
