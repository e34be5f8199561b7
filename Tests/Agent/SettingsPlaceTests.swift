import Groundwork
import Settings
import Testing

@testable import AgentSettingsFiles

@Suite("A place in the settings")
struct SettingsPlaceTests {
    @Test(
        "a place in the settings is named by number or by name, and a wrong name says how",
        arguments: [
            ("broker.port", "broker", nil as Int?, "port" as String?), ("hosts[1].public", "hosts", 1, "public"),
            ("hosts[b.example:8443].public", "hosts", 1, "public"), ("actions.lamp.retries", "actions", 0, "retries"),
            ("actions[lamp]", "actions", 0, nil), ("actions.lamp", "actions", 0, nil),
        ])
    func place(text: String, table: String, index: Int?, key: String?) throws {
        let place = try SettingsPlace(text, in: Self.survey)
        #expect(place.table == table && place.index == index && place.key == key)
        #expect(place.description == table + (index.map { "[\($0)]" } ?? "") + (key.map { ".\($0)" } ?? ""))
    }

    private static let survey: [SurveyedSetting] = [
        SurveyedSetting(keyPath: "broker.port", value: 0, preset: 0),
        SurveyedSetting(
            keyPath: "hosts", value: [["host": "a"], ["host": "b.example:8443"]], preset: []),
        SurveyedSetting(keyPath: "actions", value: [["name": "lamp"]], preset: []),
    ]

    @Test(
        "a name of no place in the settings says what is wrong with it",
        arguments: [
            ("broker", SettingsEditError.table(keyPath: "broker", keys: ["broker.port"])),
            ("hosts", .array(keyPath: "hosts")),
            ("hosts[2].host", .noElement(array: "hosts", element: "2", there: ["a", "b.example:8443"])),
            ("actions.door.retries", .noElement(array: "actions", element: "door", there: ["lamp"])),
            ("hosts[0]x", .unknown(keyPath: "hosts[0]x", nearest: [])),
            ("hosts[0.host", .unknown(keyPath: "hosts[0.host", nearest: [])),
            ("a.b.c", .unknown(keyPath: "a.b.c", nearest: [])), ("a b.c", .unknown(keyPath: "a b.c", nearest: [])),
            ("hosts[0].HOST", .unknown(keyPath: "hosts[0].HOST", nearest: [])),
            ("", .unknown(keyPath: "", nearest: [])),
        ])
    func noPlace(text: String, error: SettingsEditError) {
        #expect(throws: error) { try SettingsPlace(text, in: Self.survey) }
    }
}
