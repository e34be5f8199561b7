@_spi(KeyBytes) import Cryptography
import Foundation
import Groundwork

/// The lab's data directory: its state as one JSON file, and its keys. Only the owner has access to the directory.
struct StateKeeper: Sendable {
    let directory: String

    private var stateFile: String { directory + "/state.json" }

    /// Creates the directory if it is missing.
    /// - Throws: `LabError.cannotKeep`
    init(directory: String) throws {
        self.directory = directory
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw LabError.cannotKeep(path: directory, reason: error.localizedDescription)
        }
    }

    /// The state of an earlier run; an empty state if there is none.
    /// - Throws: `LabError.stateUnreadable`; the file is left alone.
    func load() throws -> LabState {
        guard FileManager.default.fileExists(atPath: stateFile) else { return LabState() }
        do {
            return try JSONDecoder().decode(LabState.self, from: Data(contentsOf: URL(fileURLWithPath: stateFile)))
        } catch {
            throw LabError.stateUnreadable(path: stateFile, reason: "\(error)")
        }
    }

    /// Replaces the file atomically: after a crash there is either the old one or the new one.
    func save(_ state: LabState) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        do {
            try write(encoder.encode(state), to: "state.json")
        } catch {
            throw LabError.cannotKeep(path: stateFile, reason: "\(error)")
        }
    }

    /// The keys of an earlier run, or new ones.
    /// - Throws: ``LabError``
    func authorityKeys(now: Date) throws -> AuthorityKeys {
        guard FileManager.default.fileExists(atPath: directory + "/ca.key") else {
            let keys = try AuthorityKeys.generate(now: now, keeping: true)
            for (name, key) in [
                ("server.key", keys.server), ("signing.key", keys.signing), ("tickets.key", keys.tickets),
            ] {
                if let key { try write(Data(PEM.privateKey(key.pkcs8().exposed()).utf8), to: name) }
            }
            try write(Data(keys.certificate.pem.utf8), to: "ca.pem")
            // Written last: its presence means that the others are there.
            try write(Data(PEM.privateKey(keys.authority.pkcs8().exposed()).utf8), to: "ca.key")
            return keys
        }
        return AuthorityKeys(
            authority: try privateKey("ca.key"), certificate: try Certificate(pem: try text("ca.pem")),
            server: try privateKey("server.key"), signing: try privateKey("signing.key"),
            tickets: try privateKey("tickets.key"), rsaKeys: RSAKeys())
    }

    /// Writes a file that only its owner can read, completely or not at all.
    @discardableResult
    func write(_ content: Data, to name: String) throws -> String {
        let path = directory + "/" + name
        let temporary = path + ".new"
        guard
            FileManager.default.createFile(
                atPath: temporary, contents: content, attributes: [.posixPermissions: 0o600]),
            rename(temporary, path) == 0
        else { throw LabError.cannotKeep(path: path, reason: String(cString: strerror(errno))) }
        return path
    }

    private func text(_ name: String) throws -> String {
        let path = directory + "/" + name
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw LabError.stateUnreadable(path: path, reason: error.localizedDescription)
        }
    }

    private func privateKey(_ name: String) throws -> PrivateKey {
        guard let pkcs8 = PEM.privateKey(in: try text(name)) else {
            throw LabError.stateUnreadable(path: directory + "/" + name, reason: "it contains no private key")
        }
        return try PrivateKey(pkcs8: SecretBytes(pkcs8))
    }
}
