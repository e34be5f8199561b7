import Cryptography
import Groundwork
import HTTPClient

@testable import Gateway
@testable import OAuth

extension FuzzTarget {
    /// What strangers and the gateway say while people log in.
    static let gatewayUsers = [
        FuzzTarget(name: "provider-url") { bytes throws(Violation) in
            var verdict = Verdict.refused
            for prefix in ["", "mag"] {
                let gateway = GatewayIdentity(host: "gateway.example", port: 8443, prefix: prefix)
                guard let url = try? ProviderURL(text(bytes), at: gateway) else { continue }
                verdict = .accepted
                guard let target = try? CallTarget.resolve(url.path, at: gateway) else {
                    throw Violation(description: "what is accepted can be called")
                }
                try require(target.url == gateway.baseURL + url.path, "the gateway's own address comes first")
                try requireAgreement(target.url, host: gateway.host, port: gateway.port)
                // libcurl resolves dot segments, and a server decodes: neither may lead out of the prefix.
                let segments = url.pathAlone.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
                for segment in segments {
                    try require(!["", ".", ".."].contains(decoded(segment)), "no segment is empty or goes up")
                    try require(!decoded(segment).contains { $0 == "/" || $0 == "\\" }, "no segment is two")
                }
            }
            return verdict
        },
        FuzzTarget(name: "authorization-answer") { bytes throws(Violation) in
            let state = SecretBytes(utf8: "state-1")
            let proof = ProofKey(verifier: state, state: state)
            var verdict = Verdict.refused
            if let session = try? AuthorizationAnswer.session(
                bytes, proof: proof, clientID: "client")
            {
                try require(session.providers.count <= AuthorizationAnswer.providerLimit, "a list is bounded")
                for provider in session.providers {
                    for url in [provider.authURL] + (provider.pollURL.map { [$0] } ?? []) {
                        try require(url.lowercased().hasPrefix("https://"), "only https is opened, shown or asked")
                        try require(url.utf8.count <= ProviderURL.limit, "a URL fits into what it is shown in")
                    }
                }
                verdict = .accepted
            }
            if let page = try? AuthorizationAnswer.page(text(bytes)) {
                try require(page.lowercased().hasPrefix("https://"), "only https is opened")
                verdict = .accepted
            }
            if let answer = try? AuthorizationAnswer.poll(bytes, proof: proof) {
                if case .code(let code) = answer {
                    try require(code.isFor(proof), "no code is taken that is of another log-in")
                    try require(HTTPHeaders.isPlainValue(code.value.exposedText()), "a code fits into a header")
                    verdict = .accepted
                }
            }
            return verdict
        },
        FuzzTarget(name: "one-time-password-demand") { bytes throws(Violation) in
            // A header in each line.
            let lines = bytes.split(
                separator: UInt8(ascii: "\n"), maxSplits: 4, omittingEmptySubsequences: false)
            let names = ["x-ca-err", "X-OTP", "X-OTP-CHANNEL", "X-OTP-RETRY", "X-OTP-RETRY-INTERVAL"]
            let headers = HTTPHeaders(zip(names, lines).map { .init($0, text(Array($1))) })
            let response = HTTPResponse(status: 401, headers: headers)
            guard let challenge = OneTimePasswordChallenge(response) else { return .refused }
            try require(challenge.channels.count <= OneTimePasswordChallenge.channelLimit, "channels are bounded")
            for channel in challenge.channels {
                try require(
                    HTTPHeaders.isPlainValue(channel) && !channel.contains(","),
                    "a channel fits into a header, and is one")
                try require(
                    channel.utf8.count <= OneTimePasswordChallenge.channelNameLimit, "the name of a channel is bounded")
            }
            try require(Set(challenge.channels).count == challenge.channels.count, "no channel is there twice")
            try require((0...100).contains(challenge.attemptsLeft ?? 0), "attempts are bounded")
            try require(
                (0...OneTimePasswordChallenge.longestWait).contains(challenge.retryAfter ?? 0), "nobody waits forever")
            return .accepted
        },
    ]

    /// As a server reads a segment.
    private static func decoded(_ segment: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(segment.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let value = Hex.decode(text(Array(rest.prefix(2))))?.first, rest.count >= 2
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return text(bytes)
    }
}
