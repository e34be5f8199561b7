import FoundationEssentials
import Testing

@testable import Groundwork

@Suite("Answer")
struct AnswerTests {
    private enum State: String, CaseIterable, AnswerValue { case open, closed }

    private struct Door: Answered {
        var name = "front"
        var state = State.open
        var opened: Date? = Date(timeIntervalSince1970: 0)
        var keys: [Int]? = [1, 2]
        var lock: Lock?

        static let answer: Answer<Door> = [
            "name": .of("by which it is known") { $0.name }, "state": .of("as it is now") { $0.state },
            "opened": .of("when it was opened last") { $0.opened }, "keys": .of("numbers of its keys") { $0.keys },
            "lock": .of("where it has one") { $0.lock },
            "width": .schema(.integer("in centimeters", in: 60...120)) { _ in 80 },
        ]
    }

    private struct Lock: Answered {
        let isBroken: Bool

        static let answer: Answer<Lock> = ["isBroken": .of("whether it opens without a key") { $0.isBroken }]
    }

    @Test("an answer has the schema that follows from the types of its values; optional ones are not required")
    func schema() {
        let expected = Schema.object(
            [
                "name": .string("by which it is known"), "state": .choice("as it is now", of: State.self),
                "opened": .time("when it was opened last"), "keys": .array(of: .integer(""), "numbers of its keys"),
                "lock": .object(all: ["isBroken": .boolean("whether it opens without a key")], "where it has one"),
                "width": .integer("in centimeters", in: 60...120),
            ], required: ["name", "state", "width"], "A door")
        #expect(Door.schema("A door") == expected)
    }

    @Test("an answer has a member for each value that is there")
    func json() {
        #expect(
            Door(lock: Lock(isBroken: true)).json == [
                "name": "front", "state": "open", "opened": "1970-01-01T00:00:00Z", "keys": [1, 2],
                "lock": ["isBroken": true], "width": 80,
            ])
        #expect(
            Door(opened: nil, keys: nil).json == ["name": "front", "state": "open", "width": 80])
    }
}
