import TestSupport

/// Lets a few tests at a time start their boards and gateways: dozens at once would only wait for each other.
actor Turnstile {
    static let boards = Turnstile(places: 3)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(places: Int) { free = places }

    func enter() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// The place goes to whoever has waited longest.
    func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}

/// Runs `body` when its turn has come.
func inTurn<Value>(_ body: () async throws -> Value) async throws -> Value {
    await Turnstile.boards.enter()
    do {
        let value = try await body()
        await Turnstile.boards.leave()
        return value
    } catch {
        await Turnstile.boards.leave()
        throw error
    }
}
