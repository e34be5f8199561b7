@testable import Messaging

extension OutboxStore {
    /// Does all of `body` or nothing.
    func transaction(_ body: () throws -> Void) throws {
        try begin()
        do {
            try body()
        } catch {
            rollBack()
            throw error
        }
        try commit()
    }
}
