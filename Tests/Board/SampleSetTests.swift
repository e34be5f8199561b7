import Board
import Foundation
import Testing

@Suite("Telemetry payload")
struct SampleSetTests {
    @Test("a telemetry payload is JSON with the time in ms and each reading's name, unit, value and quality")
    func payload() {
        let time = Date(timeIntervalSince1970: 1_767_225_600.5)
        let set = SampleSet(
            time: time,
            readings: [
                Reading(name: "cpu.temperature", value: 48.5, unit: .celsius, quality: .good, time: time),
                Reading(name: "pipe.temperature", value: nil, unit: .celsius, quality: .bad, time: time),
            ])
        let expected =
            #"{"readings":[{"name":"cpu.temperature","quality":"good","unit":"Cel","value":48.5},"#
            + #"{"name":"pipe.temperature","quality":"bad","unit":"Cel","value":null}],"time":1767225600500}"#
        #expect(String(decoding: set.payload(), as: UTF8.self) == expected)
    }
}
