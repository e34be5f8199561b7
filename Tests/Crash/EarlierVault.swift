import Foundation
import Vault

/// A copy of the vault that a version with up to 20 records a gateway has left: `Tests/Gateway/Fixtures/README.md`.
struct EarlierVault {
    let deviceID: String
    let magIdentifier: String
    /// The records of its active gateway as they were left.
    let first: Set<String>
    private let scope: String
    private let folder: URL

    /// - Parameter folder: where the vault of a board is to lie.
    init(at folder: URL) throws {
        let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Gateway/Fixtures/twenty-records")
        for kind in ["db", "key"] {
            let copy = folder.appending(path: "vault.\(kind)")
            try FileManager.default.copyItem(at: fixture.appendingPathExtension(kind), to: copy)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy.path)
        }
        struct Held: Decodable {
            struct Device: Decodable { var mag_identifier: String }
            var scope: String
            var records: Set<String>
            var device_id: String?
            var device: Device?
        }
        let held = try JSONDecoder().decode(
            [String: Held].self, from: Data(contentsOf: fixture.appendingPathExtension("json")))
        guard let whole = held["whole"], let deviceID = whole.device_id, let device = whole.device else {
            throw CocoaError(.fileReadCorruptFile)
        }
        (self.folder, scope, first) = (folder, whole.scope, whole.records)
        (self.deviceID, magIdentifier) = (deviceID, device.mag_identifier)
    }

    /// The records of the gateway now, while no daemon has the vault open.
    func records() async throws -> Set<String> {
        let vault = try await Vault.open(
            at: folder.appending(path: "vault.db").path,
            with: [DevelopmentKeyFile(folder.appending(path: "vault.key").path)], creating: false)
        let names = try await vault.names(scope: scope)
        await vault.close()
        return Set(names.map(\.name))
    }
}
