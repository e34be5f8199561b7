import HTTPClient

@testable import LocalAPI

extension FuzzTarget {
    static let localAPI = [
        FuzzTarget(name: "request-target") { bytes throws(Violation) in
            guard let target = try? RequestTarget(bytes) else { return .refused }
            try require(
                target.segments.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." && !$0.contains("/") },
                "no segment leads elsewhere")
            let texts = target.segments + target.query.keys + target.query.values
            try require(
                texts.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }, "nothing holds control characters"
            )
            return .accepted
        },
        FuzzTarget(name: "event-lines") { bytes throws(Violation) in
            guard let size = bytes.first.map({ Int($0) + 1 }) else { return .refused }
            let stream = Array(bytes.dropFirst())
            var (whole, pieces) = (LineSplitter(), LineSplitter())
            guard let lines = try? whole.add(stream) else { return .refused }
            var found: [ArraySlice<UInt8>] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                guard let more = try? pieces.add(Array(stream[start..<min(start + size, stream.count)])) else {
                    throw Violation(description: "pieces are no longer than the whole")
                }
                found += more
            }
            try require(found == lines, "lines do not depend on how the stream was cut")
            return lines.isEmpty ? .refused : .accepted
        },
        FuzzTarget(name: "event-frames") { bytes throws(Violation) in
            guard let size = bytes.first.map({ Int($0) + 1 }) else { return .refused }
            let stream = Array(bytes.dropFirst())
            var (whole, pieces) = (FrameSplitter(), FrameSplitter())
            guard let frames = try? whole.add(stream) else { return .refused }
            var found: [ArraySlice<UInt8>] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                guard let more = try? pieces.add(Array(stream[start..<min(start + size, stream.count)])) else {
                    throw Violation(description: "pieces are no longer than the whole")
                }
                found += more
            }
            try require(found == frames, "frames do not depend on how the stream was cut")
            return frames.isEmpty ? .refused : .accepted
        },
        FuzzTarget(name: "console-head") { bytes throws(Violation) in
            // A method, then a header in each line.
            let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            var headers: HTTPHeaders = [:]
            for line in lines.dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1).map { String($0.drop { $0 == " " }) }
                if parts.count == 2 { headers.add(parts[0], parts[1]) }
            }
            let (gate, method) = (ConsoleGate(port: 8480), String(lines.first ?? ""))
            let cookies = gate.cookies(in: headers)
            try require(
                cookies.allSatisfy { !$0.contains(";") } && (cookies.isEmpty || headers.first("Cookie") != nil),
                "a cookie is a value of the header")
            guard (try? gate.check(method, headers, readsPage: false)) != nil else { return .refused }
            let host = headers.all("Host")
            try require(host.count == 1 && gate.hosts.contains(host[0]), "the host is the listener's own")
            try require(
                headers.all("Origin").allSatisfy { $0 == "http://\(host[0])" }, "the origin is the listener's own")
            try require(
                method == "GET" || method == "HEAD" || headers.all("Origin").count == 1, "a change has an origin")
            return .accepted
        },
        FuzzTarget(name: "token-head") { bytes throws(Violation) in
            // A header in each line.
            var headers: HTTPHeaders = [:]
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1).map { String($0.drop { $0 == " " }) }
                if parts.count == 2 { headers.add(parts[0], parts[1]) }
            }
            let address = ListenAddress(loopbackPort: 9464)
            let door = TokenDoor(address, port: 9464, names: [], token: "0123456789abcdef", peer: .unknown)
            let head = RequestHead(
                method: "GET", target: [], headers: headers, announcedBytes: 0, bytes: bytes.count, peer: .unknown)
            guard (try? door.caller(of: head)) != nil else { return .refused }
            try require(headers.all("Host").count == 1, "there is one host")
            try require(
                headers.all("Authorization").count == 1
                    && headers.first("Authorization")?.hasSuffix(" 0123456789abcdef") == true, "the token is there")
            return .accepted
        },
    ]
}
