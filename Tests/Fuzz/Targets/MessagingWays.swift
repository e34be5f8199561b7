@testable import Messaging

extension FuzzTarget {
    static let messagingWays = [
        FuzzTarget(name: "websocket-frames") { bytes throws(Violation) in
            // The first byte is how many bytes arrive at once.
            guard let piece = bytes.first.map({ max(1, Int($0)) }) else { return .refused }
            let whole = read(bytes.dropFirst(), inPiecesOf: .max)
            let cut = read(bytes.dropFirst(), inPiecesOf: piece)
            try require(whole == cut, "frames read the same, however they arrive")
            guard let whole else { return .refused }
            try require(whole.payload.count < bytes.count, "a frame has no more than was sent")
            for control in whole.controls {
                if case .ping(let content) = control {
                    try require(content.count <= 125, "a ping has at most 125 bytes")
                }
            }
            return .accepted
        },
        FuzzTarget(name: "websocket-answer") { bytes throws(Violation) in
            guard let head = AnswerHead(bytes) else { return .refused }
            try require((100..<1000).contains(head.status), "a status has three digits")
            try require(head.fields.count <= AnswerHead.mostFields, "the number of fields has a limit")
            for field in head.fields {
                try require(
                    !(field.name + field.value).utf8.contains { $0 == 13 || $0 == 10 || $0 == 0 },
                    "a field is one line")
                try require(field.name == field.name.lowercased() && !field.name.isEmpty, "names are in lower case")
            }
            let handshake = WebSocketHandshake(nonce: Array("the sample nonce".utf8))
            guard (try? handshake.check(head)) != nil else { return .refused }
            try require(head.only("sec-websocket-accept") == handshake.accept, "only the right key opens it")
            return .accepted
        },
        FuzzTarget(name: "proxy-url") { bytes throws(Violation) in
            let url = text(bytes)
            guard let proxy = try? BrokerProxy(url: url) else { return .refused }
            try require((1...65_535).contains(proxy.port) && !proxy.host.isEmpty, "a proxy has a host and a port")
            try require(
                proxy.description.utf8.allSatisfy { $0 > 32 && $0 < 127 }, "a proxy is named in one visible word")
            try require(
                proxy.authorization?.allSatisfy { $0 >= 32 && $0 < 127 } ?? true, "credentials stay in their header")
            guard let again = try? BrokerProxy(url: proxy.description) else {
                throw Violation(description: "what is said of a proxy names it")
            }
            try require(again.host == proxy.host && again.port == proxy.port, "what is said of a proxy names it")
            return .accepted
        },
    ]

    /// What was read of frames; `nil` if they were refused.
    private static func read(_ bytes: ArraySlice<UInt8>, inPiecesOf piece: Int) -> Frames? {
        var (reader, rest, found) = (WebSocketReader(), bytes, Frames())
        while !rest.isEmpty {
            guard let controls = try? reader.read(rest.prefix(piece), into: &found.payload) else { return nil }
            found.controls += controls
            rest = rest.dropFirst(piece)
        }
        return found
    }

    private struct Frames: Equatable {
        var payload: [UInt8] = []
        var controls: [WebSocketReader.Control] = []
    }
}
