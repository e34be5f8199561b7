import AgentCore
import Cryptography
import Groundwork
import HTTPClient
import LocalAPI
import Vault

extension CertificatesFeature {
    func addReadingRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/certificates", needs: .read,
            .init(
                "The certificates that the board shows to servers, beside those of gateways",
                answer: .object(all: ["certificates": .array(of: .clientIdentity, "by name")]))
        ) { _ in
            .json(["certificates": .array(try await self.store.all().map(\.json))])
        }
        router.on(
            "GET", "/v1/certificates/{name}", needs: .read,
            .init("A certificate", path: Self.path, answer: .wholeClientIdentity)
        ) { request in
            .json(try await self.store.identity(request.parameters["name"] ?? "").wholeJSON)
        }
    }

    func addChangingRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/certificates", needs: .operate,
            .init(
                "Import every certificate of a file that has its private key, or none",
                body: [
                    "file": Schema.base64("PKCS#12, or PEM with keys in PKCS#8").asSensitive,
                    "password": Schema.string("password of the file; empty by default").asSensitive,
                    "name": .string("1 to 47 lower-case letters, digits and hyphens; from the file by default"),
                    "hosts": Self.hosts,
                ], required: ["file"],
                answer: .object(all: ["certificates": .array(of: .clientIdentity, "in the order of the file")]))
        ) { request in
            .json(["certificates": .array(try await self.importFile(RequestBody(request)).map(\.json))])
        }
        router.on(
            "POST", "/v1/certificates/{name}/use", needs: .operate,
            .init(
                "Show a certificate to these servers and no others", path: Self.path, body: ["hosts": Self.hosts],
                required: ["hosts"], answer: .clientIdentity)
        ) { request in
            let hosts = try Self.hosts(in: RequestBody(request))
            let name = request.parameters["name"] ?? ""
            let identity = try await self.change { try await $0.use(name, for: hosts) }
            return .json(identity.json)
        }
        router.on(
            "DELETE", "/v1/certificates/{name}", needs: .operate,
            .init("Remove a certificate and its key", path: Self.path, answer: .object(all: ["removed": Self.name]))
        ) { request in
            let name = request.parameters["name"] ?? ""
            try await self.change { try await $0.remove(name) }
            self.forget(name)
            self.host.report(CertificatesEvent.removed(name: name))
            return .json(["removed": .string(name)])
        }
    }

    static let name = Schema.string("its name")
    static let path = ["name": name]
    private static let hosts = Schema.array(
        of: .string("host or host:port; 443 by default"), "servers that are shown the certificate; at most 32")

    private func importFile(_ body: RequestBody) async throws -> [ClientIdentity] {
        guard var file = Base64.decode(try body.string("file")) else {
            throw AgentError.badRequest(member: "file", fault: "is not base64")
        }
        defer { wipe(&file) }
        let (bytes, password) = (SecretBytes(file), SecretBytes(utf8: try body.optionalString("password") ?? ""))
        let (name, hosts) = (try body.optionalString("name"), try Self.hosts(in: body))
        let now = host.time.now
        let imported = try await change {
            try await $0.add(from: bytes, password: password, named: name, hosts: hosts, at: now)
        }
        for identity in imported { reportImport(of: identity) }
        return imported
    }

    func reportImport(of identity: ClientIdentity) {
        forget(identity.name)
        let subject = identity.certificate.map { DisplayText.oneLine($0.subject.description, limit: 200) } ?? ""
        host.report(CertificatesEvent.imported(name: identity.name, subject: subject))
        reportEnds()
    }

    /// As `host:port`.
    /// - Throws: ``AgentError/badRequest(member:fault:)``
    private static func hosts(in body: RequestBody) throws(AgentError) -> [String] {
        var hosts: [String] = []
        for host in body["hosts"]?.array ?? [] {
            let fault: String
            do throws(AddressFault) {
                let address = try HTTPSAddress("https://" + (host.string ?? ""))
                hosts.append("\(address.host):\(address.port)")
                guard !address.url.hasSuffix("\(address.port)/") else { continue }
                fault = "it has a path"
            } catch {
                fault = error.reason
            }
            throw .badRequest(member: "hosts", fault: "has one that is not host or host:port: \(fault)")
        }
        return hosts
    }
}
