import Cryptography
import Groundwork
import LocalAPI
import Vault

extension ClientIdentity {
    /// What routes say of an identity. Nothing of it is secret.
    static let answer: Answer<ClientIdentity> = [
        "name": .of("its name on this board") { $0.name },
        "hosts": .of("servers that it is shown to, as host:port") { $0.hosts },
        "key": .schema(.string("where its key is", choices: KeyReference.Keeper.allCases.map(\.rawValue))) {
            $0.key.keeper.rawValue
        },
        "algorithm": .of("kind of its key, such as RSA 2048; none while the certificate is only requested") {
            $0.certificate?.publicKey.algorithm
        },
        "subject": .of("whom it is for") { $0.certificate.map { shown($0.subject) } },
        "issuer": .of("who issued it") { $0.certificate.map { shown($0.issuer) } },
        "serialNumber": .of("its number at the issuer, in hexadecimal") { $0.certificate?.serialNumber },
        "notBefore": .of("when it begins") { $0.certificate?.notBefore },
        "notAfter": .of("when it ends") { $0.certificate?.notAfter },
        "sha256": .of("SHA-256 of the certificate, in hexadecimal") {
            $0.certificate.map { Hex.encode(SHA256.hash($0.der)) }
        },
        "dnsNames": .of("names in it") { $0.certificate?.dnsNames },
        "forClients": .of("whether its usages allow that a client shows it") { $0.certificate?.isForClients },
    ]

    private static func shown(_ name: DistinguishedName) -> String { DisplayText.oneLine(name.description, limit: 500) }

    var json: JSON { Self.answer.json(self) }

    /// With the certificates themselves.
    var wholeJSON: JSON {
        .object(
            Self.answer.members(of: self).merging(["chain": .array(chain.map { .string($0.pem) })]) { own, _ in own })
    }
}

extension Schema {
    static var clientIdentity: Schema {
        named("ClientIdentity", ClientIdentity.answer.schema("A certificate with a key, beside those of gateways"))
    }

    static var wholeClientIdentity: Schema {
        named(
            "WholeClientIdentity",
            .object(
                ClientIdentity.answer.schemas.merging([
                    "chain": .array(of: .string("in PEM"), "the certificate, then those of its authorities")
                ]) { own, _ in own }, required: ClientIdentity.answer.required.union(["chain"]),
                "A certificate with those of its authorities"))
    }
}
