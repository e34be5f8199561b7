import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient

@testable import OAuth

extension FuzzTarget {
    static let oauth = [
        FuzzTarget(name: "key-set") { bytes throws(Violation) in
            guard let keys = try? KeySet(bytes) else { return .refused }
            guard let key = keys["key-1"] else { return .accepted }
            try require((key.rsaModulus?.count ?? 256) >= 256, "no RSA key has fewer than 2048 bits")
            return .accepted
        },
        FuzzTarget(name: "id-token-claims") { bytes throws(Violation) in
            // The signature is put on here: a fuzzer would never get past it.
            guard let token = try? JWS.sign(bytes, algorithm: .HS256, key: .hmac(secret)) else { return .refused }
            let validation = IDTokenValidation(
                client: ClientAuthentication(id: "client", secret: secret, expires: nil),
                rules: [.text("azp", "device")], now: Date(timeIntervalSince1970: 1_000_000),
                algorithms: [.HS256])
            guard let expires = try? validation.validate(token, keys: nil) else { return .refused }
            try require(expires >= validation.now, "no token that has ended is valid")
            return .accepted
        },
        FuzzTarget(name: "token-answer") { bytes throws(Violation) in
            guard let answer = try? TokenAnswer(bytes) else { return .refused }
            try require((0...TokenAnswer.lifetimeLimit).contains(answer.lifetime), "a life is finite")
            try require(HTTPHeaders.isPlainValue(answer.accessToken.exposedText()), "a token fits into a header")
            // What is computed with the answer must not trap either.
            let held = HeldToken(
                value: answer.accessToken, lifetime: answer.lifetime, scope: answer.scope ?? "", at: Date(),
                uptime: .seconds(1))
            try require(held.isValid(at: .seconds(1)), "a token is valid when it comes in")
            return .accepted
        },
        FuzzTarget(name: "server-metadata") { bytes throws(Violation) in
            guard let metadata = try? ServerMetadata(bytes) else { return .refused }
            for address in ServerMetadata.Endpoint.allCases.compactMap({ metadata[$0] }) {
                try require(HTTPHeaders.isPlainValue(address), "an address is visible ASCII")
            }
            return metadata[.token] == nil ? .refused : .accepted
        },
        FuzzTarget(name: "redirect-answer") { bytes throws(Violation) in
            let code: AuthorizationCode
            do throws(RedirectFault) {
                code = try RedirectAnswer.code(in: text(bytes), redirectURI: "https://app.example/done")
            } catch {
                if case .refused(let error, let words) = error {
                    try require(DisplayText.clean(error) == error, "a server's word is fit to be shown")
                    try require(words.map { DisplayText.clean($0) == $0 } ?? true, "so are its words")
                }
                return .refused
            }
            try require((1...RedirectAnswer.limit).contains(code.value.count), "a code is bounded")
            return .accepted
        },
        FuzzTarget(name: "implicit-answer") { bytes throws(Violation) in
            guard
                let answer = try? RedirectAnswer.fragment(in: text(bytes), redirectURI: "https://app.example/done"),
                let json = try? JSONAnswer(answer.fields.bytes), let tokens = try? TokenAnswer(json)
            else { return .refused }
            try require(HTTPHeaders.isPlainValue(tokens.accessToken.exposedText()), "a token fits into a header")
            return .accepted
        },
        FuzzTarget(name: "device-authorization") { bytes throws(Violation) in
            guard let answer = try? DeviceAuthorization(bytes) else { return .refused }
            try require((1...300).contains(answer.interval), "a server is neither flooded nor forgotten")
            try require((0...DeviceAuthorization.lifetimeLimit).contains(answer.lifetime), "a code ends")
            for text in [answer.userCode, answer.verificationURI] + (answer.completeURI.map { [$0] } ?? []) {
                try require(DisplayText.clean(text) == text, "what is shown is fit to be shown")
            }
            return .accepted
        },
        FuzzTarget(name: "client-registration") { bytes throws(Violation) in
            guard let answer = try? ClientRegistration(bytes) else { return .refused }
            try require(HTTPHeaders.isPlainValue(answer.id), "an id fits into a form")
            return .accepted
        },
        FuzzTarget(name: "oauth-refusal") { bytes throws(Violation) in
            let response = HTTPResponse(status: 400, body: bytes)
            guard let refusal = OAuthRefusals().refusal(in: response) else { return .refused }
            for words in [refusal.error] + (refusal.text.map { [$0] } ?? []) {
                try require(words.unicodeScalars.count <= RefusalWords.limit, "a server's words are bounded")
                try require(words.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "and on one line")
            }
            _ = OAuthRefusals().subject(of: refusal)
            return .accepted
        },
    ]

    private static let secret = SecretBytes(utf8: "the client's secret")
}
