import Foundation
import Testing

@testable import Board

@Suite("Readings that programs hand in")
struct HandedReadingsTests {
    private func reading(_ name: String, _ value: Double?, _ unit: SenMLUnit = .metre) -> Reading {
        Reading(name: name, value: value, unit: unit, quality: value == nil ? .bad : .good, time: Date())
    }

    @Test("the newest of each name is kept, with how often there was a value")
    func counts() {
        let handed = HandedReadings()
        #expect(handed.take([reading("b", 1), reading("a", 2)]))
        #expect(handed.take([reading("b", nil)]))
        #expect(handed.latest().map(\.name) == ["a", "b"])
        #expect(handed.all().map(\.taken) == [1, 1])
        #expect(handed.all().map(\.failed) == [0, 1])
        // Another unit is another sensor.
        #expect(handed.take([reading("b", 3, .celsius)]))
        #expect(handed.all().map(\.unit) == [.metre, .celsius])
        #expect(handed.all().map(\.failed) == [0, 0])
    }

    @Test("no more names are remembered than the limit, and then none of a request is")
    func limit() {
        let handed = HandedReadings()
        for number in 1..<HandedReadings.limit { #expect(handed.take([reading("n\(number)", 1)])) }
        #expect(!handed.take([reading("x", 1), reading("y", 1)]))
        #expect(handed.latest().count == HandedReadings.limit - 1)
        #expect(handed.take([reading("x", 1)]))
        #expect(handed.take([reading("n1", 2)]))
    }

    @Test("a name is of plain characters", arguments: [("a.b-c_9", true), ("", false), ("A", false), ("a b", false)])
    func names(name: String, isValid: Bool) {
        #expect(SensorName.isValid(name) == isValid)
        #expect(!SensorName.isValid(String(repeating: "a", count: 65)))
    }
}
