import Foundation
import GatewayLab
import Groundwork
import TestSupport
import Testing

@Suite("Messages to the members of a group", .timeLimit(.minutes(8)))
struct GroupMessageTests {
    private static let topics = ["alice", "bob"].map { "/2.0/client/users/\($0)/custom/\($0)" }

    /// The next messages at topics of users.
    private func next(_ count: Int, of arrivals: AsyncStream<LabMessage>) async throws -> [LabMessage] {
        try await Acceptance.within(180, "\(count) messages to users") {
            var found: [LabMessage] = []
            for await message in arrivals where message.topic.contains("/users/") {
                found.append(message)
                if found.count == count { return found }
            }
            throw Unexpected("the broker's messages ended")
        }
    }

    private func content(_ message: LabMessage) throws -> String {
        let envelope = try JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any]
        let data = Data(base64Encoded: try #require(envelope?["Payload"] as? String))
        return String(decoding: try #require(data), as: UTF8.self)
    }

    @Test("a group message goes to each current member in the gateway's directory, from the board or its user")
    func eachMember() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            #expect(try await board.latchkey("login", "--user", "alice", input: "alice-password\n").status == 0)
            let arrivals = lab.arrivals.subscribe()
            func send(_ text: String, _ more: String...) async throws -> [String: Any] {
                let result = try await Program(name: "latchkey").run(
                    ["send", "--group", "night shift", "--each-member", text, "--json", "--socket", board.socket] + more
                )
                return try JSONSerialization.jsonObject(
                    with: Data((result.status == 0 ? result.output : result.errors).utf8)) as? [String: Any] ?? [:]
            }
            #expect(value(try await send("too early"), "error", "code") as? String == "services.group-unknown")
            try await board.ask("groups", "create", "night shift", "alice", "bob")
            for speaker in ["board", "user"] {
                #expect(try await send("from \(speaker)", "--as", speaker)["count"] as? Int == 2)
                let found = try await next(2, of: arrivals)
                #expect(found.map(\.topic).sorted() == Self.topics)
                #expect(try found.map(content) == ["from \(speaker)", "from \(speaker)"])
            }
            try await board.ask("groups", "remove", "night shift", "bob")
            #expect(try await send("without bob")["count"] == nil)
            try await board.ask("send", "--user", "bob", "end")
            let last = try await next(2, of: arrivals)
            #expect(last.map(\.topic) == Self.topics)
            #expect(try last.map(content) == ["without bob", "end"])

            try await board.ask("groups", "remove", "night shift", "alice")
            #expect(value(try await send("to nobody"), "error", "code") as? String == "input.group-without-members")
            let both = try await board.latchkey("send", "--group", "g", "--each-member", "--member", "bob", "x")
            #expect(both.status == 64)
        }
    }
}
