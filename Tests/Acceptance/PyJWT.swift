import Foundation
import TestSupport

/// Another implementation of JWS: Debian's PyJWT.
enum PyJWT {
    /// The claims of a token that it has verified.
    static func verified(
        _ token: String, by pem: String, algorithm: String = "RS256", for audience: String
    ) async throws -> [String: Any] {
        let script = """
            import json, sys, jwt
            token, key, algorithm, audience = sys.argv[1:]
            print(json.dumps(jwt.decode(token, key, algorithms=[algorithm], audience=audience, options={
                "require": ["exp", "iat", "iss", "aud", "sub", "jti"]})))
            """
        let python = Program(url: URL(filePath: "/usr/bin/python3"))
        let result = try await python.run(["-c", script, token, pem, algorithm, audience])
        guard result.status == 0 else { throw Unexpected(result.errors) }
        return try result.json
    }

    /// - Parameter publicKey: SubjectPublicKeyInfo in base64, as `latchkey keys --json` has it.
    static func pem(_ publicKey: String) -> String {
        "-----BEGIN PUBLIC KEY-----\n\(publicKey)\n-----END PUBLIC KEY-----\n"
    }
}
