import AgentCalls
import AgentCore
import Cryptography
import Groundwork
import LocalAPI
import Settings
import Synchronization
import Vault

/// The table `[crypto]`.
struct CryptoSettings: TypedValue {
    /// Whether programs may read old data with weak algorithms.
    var legacy = false
}

/// Cryptography for programs: digests and cipher texts of Oracle's mobile SDK, keys that stay in the vault, and
/// credentials.
package struct CryptoFeature: Feature {
    let host: Host
    let authorizer: CallAuthorizer
    let service: CryptoService
    let credentials: CredentialStore
    package let counts = OperationCounts()

    package init(_ host: Host) {
        self.host = host
        authorizer = host.feature(GrantsFeature.self).authorizer
        service = CryptoService(host.vault)
        credentials = CredentialStore(host.vault)
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("crypto") { $0.flag("legacy", &configuration[CryptoSettings.self].legacy) }
    }

    package func addRoutes(to router: inout Router) {
        addFormatRoutes(to: &router)
        addKeyRoutes(to: &router)
        addPairRoutes(to: &router)
        addCredentialRoutes(to: &router)
    }

    package static var errors: [any Explained.Type] { [CryptoError.self, FormatError.self, ObjectError.self] }

    package func personalRecords() async throws(VaultError) -> [RecordName] { try await credentials.personalRecords() }

    package static var recordRules: RecordRules {
        RecordRules { _, kind, _ in CryptoService.isKey(kind) || CredentialStore.isThisDeviceOnly(kind) }
    }
}

/// How often programs have used the crypto service since the agent started.
package final class OperationCounts: Sendable {
    package enum Operation: String, Sendable, CaseIterable {
        case hash, verify, encrypt, decrypt, sign, check, wrap, unwrap
    }

    private let counts = Mutex<[Operation: Int64]>([:])

    package var all: [Operation: Int64] { counts.withLock { $0 } }

    func add(_ operation: Operation) { counts.withLock { $0[operation, default: 0] += 1 } }
}

extension CryptoFeature {
    /// Lets a program use keys and credentials.
    ///
    /// - Parameter owner: the user ID whose they are; `nil` for the program's own.
    /// - Returns: that user ID.
    /// - Throws: `GrantError`, `LocalAPIError.accessDenied`
    func owner(_ request: LocalRequest, _ owner: Int64?) async throws -> UInt32 {
        try authorizer.admit(request)
        return try await authorizer.permit(LocalProgram(request), storeOf: owner.map { UInt32(truncatingIfNeeded: $0) })
    }

    /// The owner that a body names, once the program may use what is the owner's.
    func owner(_ request: LocalRequest, _ body: RequestBody) async throws -> UInt32 {
        try await owner(request, body.optionalInteger("uid", in: Self.uids))
    }

    /// The owner that a query names.
    func owner(ofQuery request: LocalRequest) async throws -> UInt32 {
        let own = Int64(request.peer.uid)
        return try await owner(request, request.integer("uid", in: Self.uids, default: own))
    }

    /// Lets a program use the service, and counts it.
    func begin(_ operation: OperationCounts.Operation, _ request: LocalRequest) async throws -> (RequestBody, UInt32) {
        let body = RequestBody(request)
        let owner = try await owner(request, body)
        counts.add(operation)
        return (body, owner)
    }

    /// Whether a request may use what is weak.
    ///
    /// - Throws: ``CryptoError/legacyOff``
    func legacy(_ body: RequestBody) throws -> Bool {
        let isAsked = try body.bool("legacy", default: false)
        guard !isAsked || host.settings[CryptoSettings.self].legacy else { throw CryptoError.legacyOff }
        return isAsked
    }

    static let uids: ClosedRange<Int64> = 0...Int64(UInt32.max)

    static let uidSchema = Schema.integer("user ID of the owner; the caller's own by default", in: uids)
    static let legacySchema = Schema.boolean("whether weak algorithms are allowed, if crypto.legacy is set")

    static let textMembers: [String: Schema] = [
        "text": Schema.string("the text, 1 byte or more").asSensitive,
        "encoding": .string("encoding of the text; text by default", choices: ["text", "base64"]), "uid": uidSchema,
    ]

    static let valueSchema = Schema.object(
        [
            "value": Schema.base64("the text").asSensitive,
            "text": Schema.string("the text, if it is UTF-8").asSensitive,
        ], required: ["value"])

    static func value(_ secret: SecretBytes) -> JSON {
        let bytes = secret.exposed()
        var members: [String: JSON] = ["value": .string(Base64.encode(bytes))]
        members["text"] = String(validating: bytes, as: UTF8.self).map(JSON.string)
        return .object(members)
    }
}

extension RequestBody {
    func secret(_ member: String) throws(AgentError) -> SecretBytes {
        var bytes = try payload(member)
        defer { wipe(&bytes) }
        return SecretBytes(bytes)
    }

    func bytes(_ member: String) throws(AgentError) -> [UInt8] {
        guard let bytes = try optionalBytes(member) else { throw .badRequest(member: member, fault: "is missing") }
        return bytes
    }

    /// Base64.
    func optionalBytes(_ member: String) throws(AgentError) -> [UInt8]? {
        guard let text = try optionalString(member) else { return nil }
        guard let bytes = Base64.decode(text) else { throw .badRequest(member: member, fault: "is not base64") }
        return bytes
    }
}
