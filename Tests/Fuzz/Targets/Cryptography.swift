import Groundwork

@_spi(KeyBytes) @testable import Cryptography

extension FuzzTarget {
    static let cryptography = [
        FuzzTarget(name: "jws-token") { bytes throws(Violation) in
            guard let token = try? JWS.Token(compact: text(bytes)) else { return .refused }
            try require(bytes.count <= JWS.limit, "a token has at most \(JWS.limit) bytes")
            try require(token.header["crit"] == nil, "no token with critical extensions is read")
            // Whatever the signature is, verifying must come to an end; that it fits this secret is out of reach.
            try require((try? token.verify(with: .hmac(secret))) == nil, "no token is genuine without the secret")
            return .accepted
        },
        FuzzTarget(name: "certificate") { bytes throws(Violation) in
            guard let certificate = try? Certificate(der: bytes) else { return .refused }
            try require((try? Certificate(pem: certificate.pem)) == certificate, "PEM gives back the certificate")
            try require(
                certificate.dnsNames.allSatisfy { $0.utf8.allSatisfy { (0x21..<0x7F).contains($0) } },
                "DNS names are visible ASCII")
            try require(
                certificate.description.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a description is one line")
            _ = certificate.isIssued(by: certificate)
            return .accepted
        },
        FuzzTarget(name: "pem") { bytes throws(Violation) in
            guard let blocks = try? PEM.decode(text(bytes)), !blocks.isEmpty else { return .refused }
            let written = blocks.map { PEM.encode($0) }.joined()
            try require((try? PEM.decode(written)) == blocks, "PEM gives back what it was given")
            _ = try? Certificate.all(inPEM: text(bytes))
            return .accepted
        },
        FuzzTarget(name: "certificate-request") { bytes throws(Violation) in
            guard let request = try? CertificateRequest(der: bytes) else { return .refused }
            try require(request.der == bytes, "a request is kept as it came")
            return .accepted
        },
        FuzzTarget(name: "public-key") { bytes throws(Violation) in
            guard let key = try? PublicKey(spki: bytes) else { return .refused }
            try require((try? PublicKey(spki: key.spki)) == key, "a key that was written reads as the same key")
            _ = (key.rsaModulus, key.rsaExponent)
            return .accepted
        },
        FuzzTarget(name: "private-key") { bytes throws(Violation) in
            guard let key = try? PrivateKey(pkcs8: SecretBytes(bytes)) else { return .refused }
            guard let written = try? key.pkcs8(), let again = try? PrivateKey(pkcs8: written) else {
                throw Violation(description: "a key that was read can be written and read again")
            }
            try require(again.publicKey == key.publicKey, "the key written is the key read")
            return .accepted
        },
        FuzzTarget(name: "pkcs12") { bytes throws(Violation) in
            let password = SecretBytes(utf8: "latchkey")
            // No fuzzer computes the code over a file, so that what follows is read without it, too.
            let unchecked = try? PKCS12File(SecretBytes(bytes)).container(unchecked: .text(password))
            let contents = try? PKCS12File(SecretBytes(bytes)).contents(unchecked: .text(password))
            for found in (try? contents?.identities()) ?? [] { try check(found) }
            guard (try? PrivateKey(pkcs12: SecretBytes(bytes), password: password)) != nil else { return .refused }
            try require(bytes.count <= PKCS12File.limit, "a file has at most \(PKCS12File.limit) bytes")
            try require(unchecked != nil, "the password only decides whether a key is given out")
            return .accepted
        },
        FuzzTarget(name: "pem-identity") { bytes throws(Violation) in
            let password = SecretBytes(utf8: "latchkey")
            guard let found = try? IdentityFile.Contents(pem: SecretBytes(bytes), password).identities() else {
                return .refused
            }
            try require(!found.isEmpty, "a file that is read has an identity")
            for found in found { try check(found) }
            return .accepted
        },
        FuzzTarget(name: "public-key-pin") { bytes throws(Violation) in
            guard let pin = PublicKeyPin(text(bytes)) else { return .refused }
            try require(PublicKeyPin(Hex.encode(pin.sha256)) == pin, "a pin in hexadecimal is the same pin")
            return .accepted
        },
        FuzzTarget(name: "salted-digest") { bytes throws(Violation) in
            guard let digest = try? SaltedDigest(parsing: text(bytes)) else { return .refused }
            try require(digest.text == text(bytes), "a digest is written as it was read")
            try require((try? digest.matches(secret, legacy: true)) == false, "no digest is that of this text")
            return .accepted
        },
        FuzzTarget(name: "prefixed-cipher") { bytes throws(Violation) in
            guard let sealed = try? PrefixedCipher(parsing: text(bytes)) else { return .refused }
            try require(!sealed.ciphertext.isEmpty, "a cipher text is not empty")
            let key = SecretBytes([UInt8](repeating: 7, count: sealed.form.algorithm.keySizes[0]))
            let opened = try? sealed.decrypted(key: key, vector: nil, legacy: true)
            try require((opened?.count ?? 0) <= sealed.ciphertext.count, "a text is not longer than its cipher text")
            return .accepted
        },
    ]

    private static func check(_ found: IdentityFile.Found) throws(Violation) {
        let (key, chain) = (found.identity.key, found.identity.chain)
        try require(chain.first?.publicKey == key.publicKey, "a key has its own certificate first")
        try require(chain.count <= IdentityFile.chainLimit, "a chain is at most \(IdentityFile.chainLimit) long")
        for (certificate, issuer) in zip(chain, chain.dropFirst()) {
            try require(certificate.isIssued(by: issuer), "each certificate is issued by the next")
        }
    }

    private static let secret = SecretBytes(utf8: "a secret that no fuzzer computes a code with")
}
