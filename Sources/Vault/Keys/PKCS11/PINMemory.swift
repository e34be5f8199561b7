import Cryptography
import Glibc
import Groundwork
import Synchronization

/// Remembers which PINs a token has refused, so that none of them is offered again: a service that starts again and
/// again with a wrong PIN would lock the token.
///
/// The file has an HMAC of each refused PIN, the token's serial number and random bytes, which are in a file beside it,
/// named `PATH.key`; and while a PIN is offered, that one is, so that a crash or a full disk does not lose a refusal.
/// Nothing on the disk comes from a PIN that works: with it, a thief of the card could search for the PIN. That one has
/// worked is known until the process ends.
public final class PINMemory: Sendable {
    /// The largest number of refused PINs that are kept, the newest.
    private static let limit = 32
    private static let purpose = "latchkey refused PINs 1"
    private static let fileLimit = 4096

    private enum Outcome: Int64 {
        /// A PIN was offered, and what came of it was not written.
        case unknown = 0
        case refused = 1
    }

    private struct Entry: Equatable {
        let code: [UInt8]
        let outcome: Outcome
    }

    private let path: String
    /// The codes of PINs that have worked.
    private let worked = Mutex<Set<[UInt8]>>([])

    /// - Parameter path: of a file in a folder that only this program writes. Made when it is first needed, mode 0600.
    ///   One object is meant to be made for each file.
    public init(path: String) { self.path = path }

    /// Says that a PIN is about to be offered.
    ///
    /// - Throws: ``TokenError/pinKnownWrong(token:)``, ``TokenError/pinFinalTry(token:)``,
    ///   ``TokenError/pinUncertain(token:)``, ``TokenError/pinMemoryUnusable(path:reason:)``
    func begin(_ pin: SecretBytes, for token: TokenDescription) throws(VaultError) {
        let (code, mark) = (try code(of: pin, for: token), try mark(of: token))
        let entries = try entries()
        guard !entries.contains(Entry(code: code, outcome: .refused)) else {
            throw .token(.pinKnownWrong(token: token.name))
        }
        guard !worked.withLock({ $0.contains(code) }) else { return }
        guard !token.isFinalTry else { throw .token(.pinFinalTry(token: token.name)) }
        guard !entries.contains(mark) || !token.hasFailedTries else {
            throw .token(.pinUncertain(token: token.name))
        }
        try keep(entries.filter { $0 != mark } + [mark])
    }

    /// Says whether the PIN that was offered has worked.
    func end(_ pin: SecretBytes, for token: TokenDescription, hasWorked: Bool) throws(VaultError) {
        let code = try code(of: pin, for: token)
        let isNews = worked.withLock { worked in
            if hasWorked { return worked.insert(code).inserted }
            worked.remove(code)
            return true
        }
        guard isNews else { return }
        try forget(token, adding: hasWorked ? [] : [Entry(code: code, outcome: .refused)])
    }

    /// Says that the token took no notice of the PIN, as one that was taken out.
    func abandon(_ token: TokenDescription) throws(VaultError) { try forget(token, adding: []) }

    private func forget(_ token: TokenDescription, adding added: [Entry]) throws(VaultError) {
        let (mark, before) = (try mark(of: token), try entries())
        let after = before.filter { $0 != mark } + added
        if after != before { try keep(after) }
    }

    /// What stands for a PIN that is being offered to a token.
    private func mark(of token: TokenDescription) throws(VaultError) -> Entry {
        var writer = FieldWriter(purpose: Self.purpose)
        writer.append(token.serial)
        return Entry(code: HMAC.sha256(key: try key(), writer.bytes), outcome: .unknown)
    }

    private func code(of pin: SecretBytes, for token: TokenDescription) throws(VaultError) -> [UInt8] {
        var writer = FieldWriter(purpose: Self.purpose)
        writer.append(token.serial)
        writer.append(try key().exposed())
        // The PIN is the key of the HMAC, so that no copy of it is made that is not wiped.
        return HMAC.sha256(key: pin, writer.bytes)
    }

    private func key() throws(VaultError) -> SecretBytes {
        let path = path + ".key"
        do throws(VaultError) {
            if let key = try KeyFile.read(path, .strict) { return key }
            let key = try explained { try SecretBytes.random(32) }
            try KeyFile.create(path, key)
            return key
        } catch {
            throw .token(.pinMemoryUnusable(path: path, reason: error.explanation.message))
        }
    }

    private func entries() throws(VaultError) -> [Entry] {
        let bytes: [UInt8]
        do throws(FileFault) {
            bytes = try BoundedFile.read(path, limit: Self.fileLimit, .regularWithoutLink, isSecret: true)
        } catch .system(Errno(ENOENT)) {
            return []
        } catch {
            throw unusable(error.description)
        }
        var entries: [Entry] = []
        guard var reader = FieldReader(bytes, purpose: Self.purpose) else { throw unusable("it is damaged") }
        while !reader.isAtEnd {
            guard let code = reader.field(), code.count == SHA256.byteCount,
                let outcome = reader.int64().flatMap(Outcome.init), entries.count < Self.limit
            else { throw unusable("it is damaged") }
            entries.append(Entry(code: code, outcome: outcome))
        }
        return entries
    }

    private func keep(_ entries: [Entry]) throws(VaultError) {
        var writer = FieldWriter(purpose: Self.purpose)
        for entry in entries.suffix(Self.limit) {
            writer.append(entry.code)
            writer.append(entry.outcome.rawValue)
        }
        let (draft, bytes) = (path + ".new", writer.bytes)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw unusable(Errno(errno).description) }
        defer { close(descriptor) }
        guard write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0, rename(draft, path) == 0
        else { throw unusable(Errno(errno).description) }
        let folder = open(path.parentDirectory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw unusable(Errno(errno).description) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw unusable(Errno(errno).description) }
    }

    private func unusable(_ reason: String) -> VaultError {
        .token(.pinMemoryUnusable(path: path, reason: reason))
    }
}
