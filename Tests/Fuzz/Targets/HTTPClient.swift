@testable import HTTPClient

extension FuzzTarget {
    static let http = [
        FuzzTarget(name: "response-head") { bytes throws(Violation) in
            var head = ResponseHead()
            var verdict = Verdict.refused
            for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                switch head.receive(line + [UInt8(ascii: "\n")]) {
                case .incomplete: continue
                case .complete: verdict = .accepted
                case .tooLarge, .malformed: return .refused
                }
            }
            try require(
                head.headers.count <= ResponseHead.fieldLimit, "a head has at most \(ResponseHead.fieldLimit) fields")
            if verdict == .accepted {
                try require((200..<1000).contains(head.status), "an interim answer is not the answer")
            }
            try require(
                head.headers.pairs.allSatisfy { !$0.value.utf8.contains(0x0A) && !$0.value.utf8.contains(0x0D) },
                "a field has no line breaks")
            return verdict
        },
        FuzzTarget(name: "loopback-request") { bytes throws(Violation) in
            let redirectURI = "http://127.0.0.1:8080/done"
            guard let answer = LoopbackRedirect.answer(in: bytes, redirectURI: redirectURI) else { return .refused }
            try require(answer.hasPrefix(redirectURI + "?"), "a browser is only heard at the redirect URI")
            try require(answer.utf8.count <= LoopbackRedirect.limit + redirectURI.utf8.count, "an answer is bounded")
            try require(!answer.contains(" ") && !answer.utf8.contains(0x0A), "an address is one word")
            return .accepted
        },
        FuzzTarget(name: "request-url") { bytes throws(Violation) in
            guard let target = try? RequestDestination(text(bytes)) else { return .refused }
            try require(!target.host.isEmpty && (0...65_535).contains(target.port), "there is somewhere to connect to")
            try require(!target.location.contains("?"), "what is shown has no query")
            if let sent = try? RequestDestination(target.url) {
                try require(sent.host == target.host, "the URL that is sent names the host that was judged")
            }
            return .accepted
        },
    ]
}

/// Where libcurl would connect to; `nil` when it would not.
func destination(of url: String) -> (host: String, port: Int)? {
    (try? RequestDestination(url)).map { ($0.host.lowercased(), $0.port) }
}
