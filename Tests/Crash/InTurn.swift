import TestSupport

/// Those of these tests that start boards and gateways: a few at a time.
private let boards = Places(3)

/// Runs `body` when its turn has come.
func inTurn<Value>(_ body: () async throws -> Value) async throws -> Value { try await boards.run(body) }
