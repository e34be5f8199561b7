import AgentCore
import Cryptography
import FoundationEssentials
import Groundwork
import LocalAPI
import Synchronization
import Vault

/// Certificates that this board shows to some servers, beside those that gateways gave it: imported from files, or issued
/// for a key that was made here.
package final class CertificatesFeature: Feature {
    let host: Host
    private let kept = Mutex<[ClientIdentity]>([])
    /// The certificates that ``CertificatesEvent/expiresSoon(name:end:)`` has reported.
    private let reported = Mutex<Set<String>>([])
    /// Changes are made one after the other, so that what is kept is what is stored.
    private let turn = AsyncMutex()

    package init(_ host: Host) { self.host = host }

    package static var recordRules: RecordRules { RecordRules { name, _, _ in ClientIdentity.isRecord(name) } }

    package static var errors: [any Explained.Type] { [IdentityError.self] }

    package static var events: [any ReportedEvent.Type] { [CertificatesEvent.self] }

    package static var checks: [any HealthCheck] { [CertificatesCheck()] }

    package static var statusMembers: [String: Schema] {
        [
            "certificates": .object(
                [
                    "count": .integer("certificates beside those of gateways, and requests for some"),
                    "firstEnd": .time("when the first of them ends"),
                ], required: ["count"], "Present if there are any")
        ]
    }

    var store: IdentityStore { IdentityStore(host.vault) }

    var all: [ClientIdentity] { kept.withLock { $0 } }

    package func resume() async {
        // The routes and the doctor report what cannot be read.
        if let all = try? await store.all() { kept.withLock { $0 = all } }
    }

    /// Changes what is stored.
    func change<Value: Sendable>(_ body: (IdentityStore) async throws -> Value) async throws -> Value {
        await turn.lock()
        defer { turn.unlock() }
        let value = try await body(store)
        let all = try await store.all()
        kept.withLock { $0 = all }
        return value
    }

    /// What a server is shown that asks for a certificate; `nil` if none is named for it, or that has expired.
    ///
    /// - Parameter host: as `host:port`.
    /// - Throws: `VaultError`
    package func identity(forHost host: String) async throws -> TLSIdentity? {
        guard let identity = IdentityChoice.identity(for: host, among: all, at: self.host.time.now) else { return nil }
        return try await store.shown(identity)
    }

    package func services() -> [any Service] {
        [
            host.restarting("certificates") {
                repeat { self.reportEnds() } while (try? await Task.sleep(for: .seconds(12 * 3600))) != nil
            }
        ]
    }

    /// Reports each certificate once that ends soon.
    func reportEnds() {
        for identity in all {
            guard let end = identity.certificate?.notAfter, end < host.time.now + CertificatesCheck.notice,
                reported.withLock({ $0.insert(identity.name).inserted })
            else { continue }
            host.report(CertificatesEvent.expiresSoon(name: identity.name, end: end))
        }
    }

    /// A new certificate of a name may end soon, too.
    func forget(_ name: String) { _ = reported.withLock { $0.remove(name) } }

    package func examine(into state: inout AgentState) async throws {
        state[CertificatesFindings.self, default: CertificatesFindings()] = await findings()
    }

    /// From the vault, to find what cannot be read.
    private func findings() async -> CertificatesFindings {
        do throws(VaultError) {
            try await store.check()
            let ends = try await store.all().compactMap { identity in
                identity.certificate.map { (name: identity.name, end: $0.notAfter) }
            }
            return CertificatesFindings(ends: ends)
        } catch {
            return CertificatesFindings(fault: error.explanation)
        }
    }

    package func status() async throws -> [String: JSON] {
        let all = all
        guard !all.isEmpty else { return [:] }
        var members: [String: JSON] = ["count": .integer(Int64(all.count))]
        members["firstEnd"] = all.compactMap(\.certificate?.notAfter).min().map { .string($0.formatted(.iso8601)) }
        return ["certificates": .object(members)]
    }

    package func addRoutes(to router: inout Router) {
        addReadingRoutes(to: &router)
        addChangingRoutes(to: &router)
        addRequestRoutes(to: &router)
    }
}
