import Cryptography
import Glibc
import Groundwork
import LocalAPI
import Storage
import Vault

/// Copies of the vault's records: an export is written to a file beside the vault, and goes to the program in pieces;
/// one to be restored comes in pieces.
extension VaultFeature {
    /// Of the one file that an export needs.
    var exportPath: String { host.settings.stateDirectory + "/vault-export.part" }

    func addExportRoute(to router: inout Router) {
        router.on(
            "POST", "/v1/vault/export", needs: .operate,
            .init(
                "Copy the records of the sealed store, for a passphrase to open on any board",
                body: [
                    "passphrase": Self.passphrase,
                    "withIdentity": .boolean("private keys and registrations too; false unless given"),
                ], required: ["passphrase"],
                events: [
                    "data": .object(all: [
                        "body": Schema.base64("a piece of the export; raw bytes in frames").asSensitive
                    ]),
                    "end": Vault.Exported.answer.schema(),
                ], hasFrames: true)
        ) { request in
            let body = RequestBody(request)
            let (passphrase, withIdentity) = (try body.passphrase(), try body.bool("withIdentity", default: false))
            let allowed = self.host.settings.vault.export
            guard allowed != .off, !withIdentity || allowed == .withIdentity else {
                throw AgentError.exportNotAllowed(withIdentity: allowed != .off)
            }
            return .stream { writer in
                try await self.usingDesk { try await self.export(passphrase, withIdentity, to: writer) }
            }
        }
    }

    func addRestoreRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/vault/restore", needs: .operate,
            .init(
                "Take over the records of an export, which is sent in pieces; the agent starts again afterwards",
                body: [
                    "passphrase": Self.passphrase,
                    "bytes": .integer("length of the export", in: 1...ExportUpload.limit),
                    "name": .string("of the export, for messages"),
                ], required: ["passphrase", "bytes"],
                events: [
                    "upload": .object(all: ["id": .string("ID under which the export is sent, from its first byte")]),
                    "end": Vault.Restored.answer.schema(),
                ])
        ) { request in
            let body = RequestBody(request)
            let passphrase = try body.passphrase()
            guard let bytes = try body.optionalInteger("bytes", in: 1...ExportUpload.limit) else {
                throw AgentError.badRequest(member: "bytes", fault: "is missing")
            }
            let name = DisplayText.oneLine(try body.optionalString("name") ?? "the export", limit: 200)
            let uid = request.peer.uid
            return .stream { writer in
                let restored = try await self.usingDesk {
                    let upload = try ExportUpload(to: self.exportPath, length: Int(bytes), from: uid)
                    self.exports.open(upload)
                    guard await writer.send(LocalEvent(name: "upload", data: ["id": .string(upload.id)])) else {
                        throw CancellationError()
                    }
                    try await upload.whole()
                    return try await self.restore(passphrase, named: name)
                }
                self.host.report(VaultEvent.restored(records: restored.records, keys: restored.keys))
                _ = await writer.send(LocalEvent(name: "end", data: Vault.Restored.answer.json(restored)))
                // Every part of the agent has what the vault had before. As systemd ends it, which starts it again.
                kill(getpid(), SIGTERM)
            }
        }
        router.on(
            "POST", "/v1/vault/restore/{id}", needs: .operate,
            .init(
                "The next bytes of an export that is restored, at most 1 MiB",
                path: ["id": .string("ID from the event upload")], text: "the raw bytes",
                answer: .object(all: ["taken": .boolean("false: no more is accepted; the stream reports why")]))
        ) { request in
            guard let upload = self.exports.upload(request.parameters["id"] ?? "", of: request.peer.uid) else {
                return .json(["taken": false])
            }
            return .json(["taken": .bool(try await upload.receive(request.body))])
        }
    }

    /// Runs `body` when no other export has the file, and removes the file.
    private func usingDesk<Value>(_ body: () async throws -> Value) async throws -> Value {
        try exports.begin()
        defer {
            unlink(exportPath)
            exports.end()
        }
        // One that a power cut has left.
        unlink(exportPath)
        return try await body()
    }

    private func export(_ passphrase: SecretBytes, _ withIdentity: Bool, to writer: StreamWriter) async throws {
        let rules = RecordRules(of: host.featureTypes)
        let exported = try await host.vault.export(
            to: exportPath, passphrase: passphrase, withIdentity: withIdentity, identity: rules.isIdentity)
        host.report(VaultEvent.exported(records: exported.records, withIdentity: withIdentity))
        let file = try ExportContent(exportPath)
        while let piece = try await file.next() {
            guard await writer.send(piece: piece) else { return }
        }
        _ = await writer.send(LocalEvent(name: "end", data: Vault.Exported.answer.json(exported)))
    }

    private func restore(_ passphrase: SecretBytes, named name: String) async throws -> Vault.Restored {
        let rules = RecordRules(of: host.featureTypes)
        // Of those that a board without an account may have, its own stay.
        let own = rules.bound.union(rules.kept.intersection(try await host.vault.names(scope: "")))
        do {
            return try await host.vault.restore(from: exportPath, passphrase: passphrase) { own.contains($0) }
        } catch VaultError.export(let error) {
            throw VaultError.export(error.naming(name))
        }
    }

    private static var passphrase: Schema {
        Schema.base64("the passphrase; for a new export at least \(Passphrase.leastBytes) bytes").asSensitive
    }
}

/// The bytes of an export that was written. An actor, because every read may wait for the disk.
private actor ExportContent {
    private static let pieceBytes = 64 << 10

    private let file: PlainFile
    private var offset = 0

    init(_ path: String) throws(StorageError) { file = try PlainFile(path, of: path) }

    /// - Returns: `nil` at the end.
    func next() throws -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        let count = try piece.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
        offset += count
        return count > 0 ? Array(piece.prefix(count)) : nil
    }
}

extension RequestBody {
    fileprivate func passphrase() throws(AgentError) -> SecretBytes {
        guard var bytes = Base64.decode(try string("passphrase")), bytes.count <= Self.passphraseLimit else {
            throw .badRequest(
                member: "passphrase", fault: "is not base64 of at most \(Self.passphraseLimit) bytes")
        }
        defer { wipe(&bytes) }
        return SecretBytes(bytes)
    }

    /// In bytes, as for a slot.
    private static let passphraseLimit = 4096
}

extension Vault.Exported {
    fileprivate static let answer: Answer<Vault.Exported> = [
        "records": .of("records that the export has") { $0.records },
        "leftOut": .of("records that it does not have: of the identity, and keys in hardware") {
            $0.leftOut.map(\.description)
        },
        "damaged": .of("records that cannot be read any more, which it does not have") {
            $0.damaged.map(\.description)
        },
    ]
}

extension Vault.Restored {
    fileprivate static let answer: Answer<Vault.Restored> = [
        "records": .of("records that were taken over") { $0.records },
        "keys": .of("how many of them are private keys") { $0.keys },
        "leftOut": .of("records of the export that this board has of its own") { $0.leftOut.map(\.description) },
    ]
}
