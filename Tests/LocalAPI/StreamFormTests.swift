import Groundwork
import TestSupport
import Testing

@testable import LocalAPI

@Suite("Forms of a stream", .timeLimit(.minutes(5)))
struct StreamFormTests {
    private static let both: [StreamForm] = [.serverSent, .lines]

    @Test(
        "a client gets the form of stream that it names most closely (RFC 9110 section 12.5.1)",
        arguments: [
            ([], .serverSent), (["*/*"], .serverSent), (["text/*"], .serverSent), (["application/*"], .lines),
            (["application/x-ndjson"], .lines), (["Application/X-NDJSON ; q=0.5"], .lines),
            (["application/x-ndjson, */*"], .lines), (["*/*, application/x-ndjson"], .lines),
            (["*/*;q=0.9,application/x-ndjson;q=0.2"], .lines), (["image/png", "text/event-stream"], .serverSent),
            (["text/event-stream;q=0, */*"], .lines), (["*/*;q=0.0, text/event-stream;q=0.1"], .serverSent),
            (["application/vnd.latchkey.frames"], nil), (["text/plain"], nil), ([""], nil), (["*"], nil),
            (["application/x-ndjson;q=0"], nil), (["application/x-ndjson; Q=0.000"], nil), (["x-ndjson"], nil),
            (["*/*, application/x-ndjson;q=0, text/event-stream;q=0"], nil), (["application/x-ndjson-ish"], nil),
        ] as [([String], StreamForm?)])
    func preference(accepted: [String], expected: StreamForm?) {
        #expect(StreamForm.preferred(of: Self.both, accepted: accepted) == expected)
    }

    @Test("frames of a stream are only for routes that have them")
    func offered() {
        let accepted = ["application/vnd.latchkey.frames"]
        #expect(StreamForm.preferred(of: StreamForm.all, accepted: accepted) == .frames)
        #expect(StreamForm.preferred(of: StreamForm.all, accepted: ["*/*"]) == .serverSent)
    }

    @Test("a stream is refused to a client that accepts none of its forms, which the error names")
    func notAcceptable() async throws {
        let served = try Served()
        for type in ["text/plain", "application/vnd.latchkey.frames"] {
            let answer = try await served.ask("GET", "/v1/few", headers: ["Accept: \(type)"])
            #expect(answer.status == 406 && answer.code == "local-api.not-acceptable")
            let remedy = answer.json?["error"]?["remedy"]
            #expect(remedy == "accept one of: text/event-stream, application/x-ndjson")
        }
        // Of one answer there is one form, which needs no choice.
        #expect(try await served.ask("GET", "/v1/peer", headers: ["Accept: text/plain"]).status == 200)
        try await served.stop()
    }

    @Test("a stream in frames has messages as bytes, and every other event as JSON")
    func frames() async throws {
        let served = try Served()
        let messages: [[UInt8]] = [[], [0, 10, 13, 255], [UInt8](repeating: 10, count: 100_000)]
        var (events, contents) = ([LocalEvent](), [[UInt8]]())
        let error = await #expect(throws: LocalAPIError.self) {
            let stream = served.client.records("/v1/framed", as: .frames)
            while let batch = try await stream.next() {
                for bytes in batch {
                    switch try LocalRecord(bytes, in: .frames) {
                    case .event(let event): events.append(event)
                    case .message(let content): contents.append(Array(content))
                    }
                }
            }
        }
        #expect(events == [LocalEvent(name: "begun", data: ["text": "a\nb"])] && contents == messages)
        #expect(error?.code == "kitchen.teapot")
        try await served.stop()
    }

    @Test("frames of a stream do not depend on how the stream was cut", arguments: 1...12)
    func frameSplitter(size: Int) throws {
        var stream: [UInt8] = []
        for content in [[], Array("one".utf8), [UInt8](repeating: 7, count: 300)] {
            StreamForm.write(frame: content, to: &stream)
        }
        StreamForm.frames.write("event", data: Array("1".utf8), to: &stream)
        let rest = stream + [0, 0, 0]
        var (splitter, frames) = (FrameSplitter(), [ArraySlice<UInt8>]())
        for start in stride(from: 0, to: rest.count, by: size) {
            frames += try splitter.add(Array(rest[start..<min(start + size, rest.count)]))
        }
        func frame(_ kind: UInt8, _ content: [UInt8]) -> ArraySlice<UInt8> {
            let head: [UInt8] = [kind, 0, 0, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
            return ArraySlice(head + content)
        }
        let expected = [
            frame(0, []), frame(0, Array("one".utf8)), frame(0, [UInt8](repeating: 7, count: 300)),
            frame(1, Array(#"{"data":1,"event":"event"}"#.utf8)),
        ]
        #expect(frames == expected)
    }

    @Test("a frame of a stream that is longer than any message is refused at its head")
    func longFrame() {
        var splitter = FrameSplitter()
        #expect(throws: LocalAPIError.noAnswer(reason: "a frame of the stream is too long")) {
            _ = try splitter.add([0, 0xFF, 0xFF, 0xFF, 0xFF])
        }
    }
}
