import Foundation
import TestSupport
import Testing

@testable import Messaging

@Suite("WebSocket of a client")
struct WebSocketTests {
    // MARK: Frames

    @Test("frames of WebSocket carry the examples of RFC 6455 section 5.7 and the stream of MQTT, however they are cut")
    func frames() throws {
        let hello = Array("Hello".utf8)
        let parts: [[UInt8]] = [
            [0x82, 5], hello, [0x02, 3], Array(hello.prefix(3)), [0x89, 5], hello, [0x80, 2], Array(hello.suffix(2)),
            [0x8A, 0, 0x82, 126, 1, 0], Array(repeating: 7, count: 256), [0x88, 2, 0x03, 0xE9, 1, 2, 3],
        ]
        let bytes = Array(parts.joined())
        let expected = hello + hello + [UInt8](repeating: 7, count: 256)
        for size in [1, 2, 3, 7, bytes.count] {
            var (reader, payload, controls) = (WebSocketReader(), [UInt8](), [WebSocketReader.Control]())
            for start in stride(from: 0, to: bytes.count, by: size) {
                controls += try reader.read(bytes[start..<min(start + size, bytes.count)], into: &payload)
            }
            #expect(payload == expected)
            #expect(controls == [.ping(hello), .close(code: 1001)])
        }
    }

    @Test(
        "frames of WebSocket are refused where a server may not send them",
        arguments: [
            ([0x81, 1, 65], WebSocketReader.Fault.text), ([0x82, 0x81], .masked), ([0xC2, 0], .reservedBits),
            ([0x83, 0], .unknownKind), ([0x80, 0], .order), ([0x02, 0, 0x82, 0], .order), ([0x09, 0], .control),
            ([0x89, 126, 0, 126], .control), ([0x88, 1, 3], .control), ([0x82, 126, 0, 125], .length),
            ([0x82, 127, 0, 0, 0, 0, 0, 0, 255, 255], .length),
            ([0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255], .length),
            ([0x82, 127, 0, 0, 0, 0, 16, 0, 0, 5], .length),
        ] as [([UInt8], WebSocketReader.Fault)])
    func refused(bytes: [UInt8], fault: WebSocketReader.Fault) {
        var (reader, payload) = (WebSocketReader(), [UInt8]())
        #expect(throws: fault) { try reader.read(bytes[...], into: &payload) }
    }

    @Test(
        "frames of WebSocket are masked with their key by a client (RFC 6455 section 5.3)", arguments: [5, 126, 65_536])
    func masked(count: Int) {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        var bytes: [UInt8] = []
        WebSocketWriter.append(.binary, payload, mask: 0x3D21_FA37, to: &bytes)
        #expect(bytes[0] == 0x82 && bytes[1] & 0x80 != 0)
        let start = bytes.count - count
        let key = Array(bytes[start - 4..<start])
        #expect(Set(key) == [0x37, 0xFA, 0x21, 0x3D])
        #expect(bytes[start...].enumerated().map { $1 ^ key[$0 & 3] } == payload)
    }

    // MARK: The handshake

    private let handshake = WebSocketHandshake(nonce: Array("the sample nonce".utf8))
    private let answer = [
        "HTTP/1.1 101 Switching Protocols", "Upgrade: WebSocket", "connection: keep-alive, Upgrade",
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "Sec-WebSocket-Protocol: mqtt",
    ]

    private func head(_ lines: [String]) -> AnswerHead? {
        AnswerHead(Array((lines + ["", ""]).joined(separator: "\r\n").utf8))
    }

    @Test("a WebSocket is opened with the request and the answer of RFC 6455 section 1.3")
    func opened() throws {
        let broker = BrokerAddress(host: "fe80::1%eth0", port: 443, webSocketPath: "/mqtt?a=b")
        let request = String(decoding: handshake.request(to: broker, isSecure: true), as: UTF8.self)
        #expect(request.hasPrefix("GET /mqtt?a=b HTTP/1.1\r\nHost: [fe80::1]\r\nUpgrade: websocket\r\n"))
        #expect(request.hasSuffix("\r\nSec-WebSocket-Protocol: mqtt\r\n\r\n"))
        #expect(handshake.key == "dGhlIHNhbXBsZSBub25jZQ==")
        try handshake.check(try #require(head(answer)))
    }

    @Test(
        "a WebSocket is not opened by an answer that lacks something, or has something twice",
        arguments: [
            (0, "HTTP/1.1 403 Forbidden", WebSocketHandshake.Fault.status(403)), (1, "Upgrade: h2c", .upgrade),
            (2, "Connection: close", .upgrade), (3, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOp=", .key),
            (3, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Accept: x", .key),
            (4, "Sec-WebSocket-Protocol: chat", .subprotocol), (4, "X: y", .subprotocol),
            (4, "Sec-WebSocket-Protocol: mqtt\r\nSec-WebSocket-Extensions: permessage-deflate", .extensions),
        ])
    func notOpened(line: Int, text: String, fault: WebSocketHandshake.Fault) throws {
        var lines = answer
        lines[line] = text
        let found = try #require(head(lines))
        #expect(throws: fault) { try handshake.check(found) }
    }

    @Test(
        "the head of an answer is refused where readers could disagree about it",
        arguments: [
            "HTTP/2 200", "HTTP/1.1 20", "HTTP/1.1 2000 x", "HTTP/1.1 099 x", "HTTP/1.1  200 x", "ICY 200 OK",
            "HTTP/1.1 200 OK\r\nA : b", "HTTP/1.1 200 OK\r\n folded: line", "HTTP/1.1 200 OK\r\nA: b\rc",
            "HTTP/1.1 200 OK\r\nA: b\u{0}", "HTTP/1.1 200 OK\r\n: b",
        ])
    func badHead(text: String) { #expect(head([text]) == nil) }

    @Test("the head of an answer has a limit, of its bytes and of its fields")
    func largeHead() {
        #expect(head(["HTTP/1.1 200 OK"] + Array(repeating: "A: b", count: AnswerHead.mostFields)) != nil)
        #expect(head(["HTTP/1.1 200 OK"] + Array(repeating: "A: b", count: AnswerHead.mostFields + 1)) == nil)
        #expect(head(["HTTP/1.1 200 OK", "A: \(String(repeating: "b", count: AnswerHead.limit))"]) == nil)
    }

    @Test("a path of WebSocket is one that stands in a request unchanged")
    func paths() {
        for path in ["/", "/mqtt", "/a/b?c=d%20"] { #expect(BrokerAddress.isWebSocketPath(path)) }
        for path in ["", "mqtt", "/a b", "/a\r\nX: y", "/ä", "/a#b", "/" + String(repeating: "a", count: 1024)] {
            #expect(!BrokerAddress.isWebSocketPath(path))
        }
    }
}
