/// Says on a terminal what is being done if it takes longer than a person expects; prints nothing elsewhere.
enum LongWork {
    static let patience = Duration.seconds(2)

    /// - Parameter text: what is being done, such as "registering".
    static func say<Value>(
        _ text: String, isolation: isolated (any Actor)? = #isolation, while work: () async throws -> Value
    ) async rethrows -> Value {
        guard Terminal.standardError.isTerminal else { return try await work() }
        let line = Task { () -> Bool in
            guard (try? await Task.sleep(for: patience)) != nil else { return false }
            Terminal.prompt("\r\(text)…\u{1B}[K")
            return true
        }
        do {
            let value = try await work()
            await clear(line)
            return value
        } catch {
            await clear(line)
            throw error
        }
    }

    private static func clear(_ line: Task<Bool, Never>) async {
        line.cancel()
        if await line.value { Terminal.prompt("\r\u{1B}[K") }
    }
}
