import Cryptography
import Foundation
import Groundwork
import Testing

@testable import OAuth

/// id_tokens for the client `board-7` of `https://id.example`, valid until 2100, in `id-tokens.json`.
@Suite("Signatures of id_tokens")
struct SignatureTests {
    private static let cases: [(algorithm: JWS.Algorithm, token: String, key: JSON)] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "id-tokens.json")
        let members = (try? JSON(parsing: Array(Data(contentsOf: file))))?.object ?? [:]
        return members.compactMap { name, value in
            guard let algorithm = JWS.Algorithm(rawValue: name), let token = value["token"]?.string,
                let key = value["key"]
            else { return nil }
            return (algorithm, token, key)
        }
    }()

    private func validation(_ algorithm: JWS.Algorithm, accessToken: String = "ACCESS-1") -> IDTokenValidation {
        IDTokenValidation(
            client: ClientAuthentication(id: "board-7", secret: SecretBytes([]), expires: nil),
            rules: ClaimRule.openID(
                issuer: "https://id.example", clientID: "board-7", nonce: nil,
                accessToken: SecretBytes(utf8: accessToken), algorithm: algorithm),
            now: Date(timeIntervalSince1970: 1_800_000_000), algorithms: JWS.Algorithm.ofPublicKeys)
    }

    @Test("id_tokens are verified for each algorithm of a public key, with the at_hash that goes with it")
    func verified() throws {
        #expect(Set(Self.cases.map(\.algorithm)) == JWS.Algorithm.ofPublicKeys)
        for (algorithm, token, key) in Self.cases {
            let keys = try KeySet(JSON.object(["keys": [key]]).bytes)
            #expect(throws: Never.self, "\(algorithm)") { try validation(algorithm).validate(token, keys: keys) }
            #expect(throws: IDTokenFault.claimRefused("at_hash"), "\(algorithm)") {
                try validation(algorithm, accessToken: "ACCESS-2").validate(token, keys: keys)
            }
        }
    }

    @Test("id_tokens with another signature, or of another algorithm than it was made with, are refused")
    func refused() throws {
        for (algorithm, token, key) in Self.cases {
            let keys = try KeySet(JSON.object(["keys": [key]]).bytes)
            let parts = token.split(separator: ".").map(String.init)
            var signature = try #require(Base64.decode(parts[2], alphabet: .urlSafe))
            signature[signature.count / 2] ^= 1
            let changed = "\(parts[0]).\(parts[1])." + Base64.encode(signature, alphabet: .urlSafe, padded: false)
            #expect(throws: IDTokenFault.signatureInvalid, "\(algorithm)") {
                try validation(algorithm).validate(changed, keys: keys)
            }
            for other in Self.cases where other.algorithm != algorithm {
                let head = try #require(other.token.split(separator: ".").first)
                #expect(throws: IDTokenFault.signatureInvalid, "\(algorithm) as \(other.algorithm)") {
                    try validation(other.algorithm).validate("\(head).\(parts[1]).\(parts[2])", keys: keys)
                }
            }
        }
    }
}
