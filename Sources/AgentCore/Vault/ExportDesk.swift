import Cryptography
import Groundwork
import Storage
import Synchronization
import Vault

/// Lets one export be made or restored at a time: each has a file of up to 64 MiB in the state directory.
package final class ExportDesk: Sendable {
    private struct State {
        var isTaken = false
        var upload: ExportUpload?
    }
    private let state = Mutex(State())

    package init() {}

    /// Takes the desk until ``end()``.
    ///
    /// - Throws: ``AgentError/exportInProgress``
    func begin() throws(AgentError) {
        let isFree = state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
        guard isFree else { throw .exportInProgress }
    }

    func end() { state.withLock { $0 = State() } }

    /// Receives the pieces of an export from now on.
    func open(_ upload: ExportUpload) { state.withLock { $0.upload = upload } }

    /// - Returns: `nil` for one that is over, and for another user's.
    func upload(_ id: String, of uid: UInt32) -> ExportUpload? {
        state.withLock(\.upload).flatMap { $0.id == id && $0.uid == uid ? $0 : nil }
    }
}

/// The file of an export that a program sends in pieces.
actor ExportUpload {
    /// Longer than any export: its content, a tag and a length for each piece, and the header.
    static let limit: Int64 = 65 << 20

    /// Only the program that restores knows it.
    nonisolated let id: String
    nonisolated let uid: UInt32
    private let file: PlainFile
    private let length: Int
    private var received = 0
    /// Whether the file is whole; `nil` until that is known.
    private nonisolated let isWhole = AsyncCondition<Bool?>(nil)

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - length: of the whole file, in bytes; at least 1.
    ///   - uid: the user who may send it.
    /// - Throws: `StorageError`, `CryptographyError`
    init(to path: String, length: Int, from uid: UInt32) throws {
        id = Hex.encode(try Random.bytes(16))
        file = try PlainFile(path, creating: true, of: path)
        (self.length, self.uid) = (length, uid)
    }

    /// Writes the next bytes of the file.
    ///
    /// - Returns: `false` if they go beyond its length, or it is over.
    /// - Throws: `StorageError`; the file is over then.
    func receive(_ piece: [UInt8]) throws(StorageError) -> Bool {
        guard isWhole.read({ $0 == nil }), received + piece.count <= length else { return false }
        do {
            try file.write(piece, at: received)
        } catch {
            end(false)
            throw error
        }
        received += piece.count
        if received == length { end(true) }
        return true
    }

    private nonisolated func end(_ value: Bool) { isWhole.change { if $0 == nil { $0 = value } } }

    /// Waits until the file is whole.
    ///
    /// - Throws: `CancellationError` if the task is canceled, or the file could not be written.
    nonisolated func whole() async throws(CancellationError) {
        let isWhole = await withTaskCancellationHandler {
            await self.isWhole.wait { $0 }
        } onCancel: {
            self.end(false)
        }
        guard isWhole else { throw CancellationError() }
    }
}
