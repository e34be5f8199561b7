import Cryptography
import Groundwork
import HTTPClient
import OAuth

@testable import Gateway

extension FuzzTarget {
    static let gateway =
        [
            FuzzTarget(name: "gateway-configuration") { bytes throws(Violation) in
                let configuration: GatewayConfiguration
                do throws(GatewayError) {
                    configuration = try GatewayConfiguration(parsing: bytes)
                } catch {
                    if case .configurationInvalid(let faults) = error {
                        try require(!faults.isEmpty, "a refusal says why")
                    }
                    return .refused
                }
                try require(
                    configuration.usesPublicAnchors || !configuration.anchors.isEmpty || !configuration.pins.isEmpty,
                    "there is always something to prove the gateway by")
                try require((2048...8192).contains(configuration.keyBits), "keys are neither weak nor endless")
                try require(configuration.ignoredKeys.count <= 100, "the list of ignored keys is bounded")
                try require(
                    !configuration.organization.isEmpty && !configuration.masterClientID.isEmpty,
                    "nothing required is empty")
                for endpoint in GatewayEndpoint.allCases {
                    guard let address = configuration.endpoints[endpoint],
                        let target = try? CallTarget.resolve(address, at: configuration.identity)
                    else { throw Violation(description: "\(endpoint) cannot be called") }
                    try requireAgreement(target.url, host: target.host, port: target.port)
                }
                let identity = configuration.identity
                try require(
                    GatewayIdentity(scope: identity.scope) == identity, "the scope in the vault names the same gateway")
                return .accepted
            },
            FuzzTarget(name: "enrollment-url") { bytes throws(Violation) in
                guard (try? Enrollment(url: text(bytes))) != nil, let url = try? EnrollmentURL(text(bytes)) else {
                    return .refused
                }
                try require(url.pin.sha256.count == 32, "there is always a whole pin")
                try requireAgreement(url.text, host: url.host, port: url.port)
                return .accepted
            },
            FuzzTarget(name: "client-answer") { bytes throws(Violation) in
                guard let client = try? InitializationAnswer.credentials(bytes, masterID: "master") else {
                    return .refused
                }
                let header = client.authentication.basic
                try require(header.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "credentials fit into a header")
                return .accepted
            },
            FuzzTarget(name: "error-answer") { bytes throws(Violation) in
                // The first line is the header, the rest the body.
                let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
                let response = HTTPResponse(
                    status: 400, headers: ["x-ca-err": text(Array(parts[0]))],
                    body: parts.count > 1 ? Array(parts[1]) : [])
                guard let refusal = Refusal(response, to: .obtainToken) else { return .refused }
                try require((0..<1_000_000_000).contains(refusal.code), "a code has at most nine digits")
                let shown = GatewayError.refused(refusal).message
                try require(
                    shown.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "a message is one line")
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
            FuzzTarget(name: "host-security") { bytes throws(Violation) in
                guard let json = try? JSON(parsing: bytes), json.object != nil, let host = try? HostSecurity(json: json)
                else { return .refused }
                try require((1...65_535).contains(host.port), "a port is one")
                try require(
                    host.anchors.count + host.pins.count > 0 || host.usesPublicAnchors, "a host has to prove itself")
                try require(
                    (try? HostSecurity(json: host.json))?.json == host.json, "what is kept of a host is the host")
                return .accepted
            },
        ] + gatewayUsers
}

/// What was judged by the gateway's rules must be where libcurl, a reader of its own, connects to.
func requireAgreement(_ url: String, host: String, port: Int) throws(Violation) {
    guard let destination = destination(of: url) else { return }
    try require(
        destination == (HostName.bare(host.lowercased()), port),
        "\(host):\(port) was judged, \(destination.host):\(destination.port) is called")
}
