import Cryptography
import FoundationEssentials
@testable import Gateway
import Groundwork
import HTTPClient

extension FuzzTarget {
    static let gateway = [
        FuzzTarget(name: "gateway-configuration") { bytes throws(Violation) in
            let configuration: GatewayConfiguration
            do throws(GatewayError) {
                configuration = try GatewayConfiguration(parsing: bytes)
            } catch {
                if case .configurationInvalid(let faults) = error { try require(!faults.isEmpty, "a refusal says why") }
                return .refused
            }
            try require(
                configuration.usesPublicAnchors || !configuration.anchors.isEmpty || !configuration.pins.isEmpty,
                "there is always something to prove the gateway by")
            try require((2048...8192).contains(configuration.keyBits), "keys are neither weak nor endless")
            try require(configuration.ignoredKeys.count <= 100, "the list of ignored keys is bounded")
            try require(!configuration.organization.isEmpty && !configuration.masterClientID.isEmpty, "nothing required is empty")
            for endpoint in GatewayEndpoint.allCases {
                guard let address = configuration.endpoints[endpoint],
                    let target = try? CallTarget.resolve(address, at: configuration.identity)
                else { throw Violation(description: "\(endpoint) cannot be called") }
                try requireAgreement(target.url, host: target.host, port: target.port)
            }
            let identity = configuration.identity
            try require(GatewayIdentity(scope: identity.scope) == identity, "the scope in the vault names the same gateway")
            return .accepted
        },
        FuzzTarget(name: "enrollment-url") { bytes throws(Violation) in
            guard (try? Enrollment(url: text(bytes))) != nil, let url = try? EnrollmentURL(text(bytes)) else { return .refused }
            try require(url.pin.sha256.count == 32, "there is always a whole pin")
            try requireAgreement(url.text, host: url.host, port: url.port)
            return .accepted
        },
        FuzzTarget(name: "key-set") { bytes throws(Violation) in
            guard let keys = try? KeySet(bytes) else { return .refused }
            guard let key = keys["key-1"] else { return .accepted }
            try require((key.rsaModulus?.count ?? 0) >= 256, "no key has fewer than 2048 bits")
            return .accepted
        },
        FuzzTarget(name: "id-token-claims") { bytes throws(Violation) in
            // The signature is put on here: a fuzzer would never get past it.
            guard let token = try? JWS.sign(bytes, algorithm: .HS256, key: .hmac(secret)) else { return .refused }
            let validation = IDTokenValidation(
                clientID: "client", clientSecret: secret, magIdentifier: "device", now: Date(timeIntervalSince1970: 1_000_000))
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
                value: answer.accessToken, lifetime: answer.lifetime, scope: answer.scope ?? "", at: Date(), uptime: .seconds(1))
            try require(held.isValid(at: .seconds(1)), "a token is valid when it comes in")
            return .accepted
        },
        FuzzTarget(name: "client-answer") { bytes throws(Violation) in
            guard let client = try? InitializationAnswer.credentials(bytes, masterID: "master") else { return .refused }
            try require(client.basic.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "credentials fit into a header")
            return .accepted
        },
        FuzzTarget(name: "error-answer") { bytes throws(Violation) in
            // The first line is the header, the rest the body.
            let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
            let response = HTTPResponse(
                status: 400, headers: ["x-ca-err": text(Array(parts[0]))], body: parts.count > 1 ? Array(parts[1]) : [])
            guard let refusal = Refusal(response, to: .obtainToken) else { return .refused }
            try require((0..<1_000_000_000).contains(refusal.code), "a code has at most nine digits")
            let shown = GatewayError.refused(refusal).message
            try require(shown.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "a message is one line")
            _ = (refusal.meaning, refusal.localCode)
            return .accepted
        },
        FuzzTarget(name: "registration-answer") { bytes throws(Violation) in
            guard let key = (try? Certificate.all(inPEM: text(bytes)))?.first?.publicKey,
                let chain = try? CertificateAnswer.chain(bytes, for: key)
            else { return .refused }
            try require((1...CertificateAnswer.chainLimit).contains(chain.count), "a chain is bounded")
            try require(chain[0].publicKey == key, "the certificate is for the key that was sent")
            return .accepted
        },
        FuzzTarget(name: "call-address") { bytes throws(Violation) in
            let identity = GatewayIdentity(host: "gateway.example", port: 8443, prefix: "mag")
            guard let target = try? CallTarget.resolve(text(bytes), at: identity) else { return .refused }
            try requireAgreement(target.url, host: target.host, port: target.port)
            return .accepted
        },
    ] + gatewayUsers

    private static let secret = SecretBytes(utf8: "the client's secret")
}

/// What was judged by the gateway's rules must be where libcurl, a reader of its own, connects to.
func requireAgreement(_ url: String, host: String, port: Int) throws(Violation) {
    guard let destination = destination(of: url) else { return }
    try require(
        destination == (host.lowercased(), port), "\(host):\(port) was judged, \(destination.host):\(destination.port) is called")
}
