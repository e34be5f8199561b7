import AgentCore
import Cryptography
import Groundwork
import LocalAPI
import Vault

/// Certificates for keys that are made here, and leave neither the vault nor the hardware.
extension CertificatesFeature {
    func addRequestRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/certificates/{name}/request", needs: .operate,
            .init(
                "Make a key, and a request for a certificate of it", path: Self.path,
                body: [
                    "commonName": .string("whom the certificate is for; the board's name by default"),
                    "key": .string(
                        "where the key is; software by default", choices: KeyReference.Keeper.allCases.map(\.rawValue)),
                    "algorithm": .string("rsa (2048) by default", choices: KeyChoice.Kind.allCases.map(\.rawValue)),
                ], required: [],
                answer: .object(all: ["name": Self.name, "request": .string("PKCS#10 (RFC 2986), in PEM")]))
        ) { request in
            let (name, body) = (request.parameters["name"] ?? "", RequestBody(request))
            let choice = KeyChoice(
                keeper: try body.optionalString("key").flatMap(KeyReference.Keeper.init) ?? .software,
                kind: try body.optionalString("algorithm").flatMap(KeyChoice.Kind.init) ?? .rsa)
            let subject = try Self.subject(try body.optionalString("commonName") ?? self.host.deviceName)
            let made = try await self.change { try await $0.request(name, for: subject, choice) }
            return .json(["name": .string(name), "request": .string(made.pem)])
        }
        router.on(
            "POST", "/v1/certificates/{name}/install", needs: .operate,
            .init(
                "Install the certificate that was issued for a key, in place of the one it has", path: Self.path,
                body: ["certificates": .string("it and those of its authorities, in PEM, in any order")],
                required: ["certificates"], answer: .clientIdentity)
        ) { request in
            let (name, text) = (request.parameters["name"] ?? "", try RequestBody(request).string("certificates"))
            let certificates: [Certificate]
            do throws(CryptographyError) {
                certificates = try Certificate.some(inPEM: text)
            } catch {
                throw AgentError.badRequest(member: "certificates", fault: "cannot be read: \(error.reason)")
            }
            let now = self.host.time.now
            let identity = try await self.change { try await $0.install(certificates, in: name, at: now) }
            self.reportImport(of: identity)
            return .json(identity.json)
        }
    }

    /// - Throws: ``AgentError/badRequest(member:fault:)``
    private static func subject(_ commonName: String) throws(AgentError) -> DistinguishedName {
        guard !commonName.isEmpty, commonName.count <= 64, DisplayText.clean(commonName) == commonName else {
            throw .badRequest(member: "commonName", fault: "is not 1 to 64 visible characters")
        }
        return DistinguishedName([(.commonName, commonName)])
    }
}
