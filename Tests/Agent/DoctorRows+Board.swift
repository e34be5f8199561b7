import Bluetooth
import Foundation
import Groundwork
import Proximity

@testable import Agent
@testable import AgentBoard
@testable import AgentCore
@testable import AgentHomeAssistant
@testable import AgentListener
@testable import AgentNearby
@testable import Board

extension Row {
    /// The checks of sensors, lines and radio, and of who can give consent.
    static let ofBoard: [Row] = [
        Row(SensorsCheck(), "pass", "all 4 respond") { $0.board.sensorCount = 4 },
        Row(SensorsCheck(), "pass", "names none") { $0.board.sensorCount = 0 },
        Row(SensorsCheck(), "pass", "3 of 4 respond; the others are optional") {
            $0.board.sensorCount = 4
            $0.board.absentSensorCount = 1
        },
        Row(SensorsCheck(), "fail", "temperature") { $0.board.failingSensors = [sensorFailure] },
        Row(SensorsCheck(), "fail", "and 1 more fail") { $0.board.failingSensors = [sensorFailure, sensorFailure] },
        Row(SensorsCheck(), "fail", "no board definition pi") {
            $0.board.fault = .definitionAbsent(name: "pi", searched: ["/etc/latchkey/boards"], known: [])
        },

        Row(LinesCheck(), "pass", "names no lines") { _ in },
        Row(LinesCheck(), "pass", "2 lines") { $0.board.lineCount = 2 },
        Row(LinesCheck(), "warn", "simulated") {
            $0.board.lineCount = 2
            $0.board.linesAreSimulated = true
        },
        Row(LinesCheck(), "fail", "gpio-sim") {
            $0.board.lineCount = 2
            $0.board.lineFaults = [.chipAbsent(label: "gpio-sim", present: [])]
        },
        Row(LinesCheck(), "skip", "without a board definition") {
            $0.board.fault = .definitionAbsent(name: "pi", searched: [], known: [])
        },

        Row(TelemetryBudgetCheck(), "skip", "nothing has been counted") { _ in },
        Row(TelemetryBudgetCheck(), "pass", "700 bytes this month; telemetry.monthly_bytes sets no limit") {
            $0.board.traffic = traffic(700, limit: 0)
        },
        Row(TelemetryBudgetCheck(), "pass", "700 of this month's 1000 bytes") {
            $0.board.traffic = traffic(700, limit: 1000)
        },
        Row(TelemetryBudgetCheck(), "warn", "800 of this month's 1000 bytes") {
            $0.board.traffic = traffic(800, limit: 1000)
        },
        Row(TelemetryBudgetCheck(), "fail", "held back until 2026-12-01T00:00:00Z, 3 messages so far") {
            $0.board.traffic = traffic(1001, limit: 1000)
        },

        Row(HomeAssistantCheck(), "skip", "home_assistant.enabled is false") { _ in },
        Row(HomeAssistantCheck(), "warn", "nothing has been announced at ha") {
            $0.found[HomeAssistantCheck.name] = ["prefix": "ha"]
        },
        Row(HomeAssistantCheck(), "pass", "7 entities announced at ha") {
            $0.found[HomeAssistantCheck.name] = ["prefix": "ha", "entities": 7, "leftOut": 0]
        },
        Row(HomeAssistantCheck(), "warn", "2 more had no room") {
            $0.found[HomeAssistantCheck.name] = ["prefix": "ha", "entities": 7, "leftOut": 2]
        },

        Row(BluetoothCheck(), "skip", "nothing in the settings needs one") { _ in },
        Row(BluetoothCheck(), "pass", "hci0 through kernel") { $0.nearby.adapter = adapter(nil) },
        Row(BluetoothCheck(), "warn", "bonded keyboard") {
            $0.nearby.adapter = AdapterStatus(transport: .bluez, adapter: "hci0", isPowered: true)
            ($0.nearby.requiresEncryption, $0.nearby.takesKeyboards) = (true, true)
        },
        Row(BluetoothCheck(), "pass", "hci0 through bluez") {
            $0.nearby.adapter = AdapterStatus(transport: .bluez, adapter: "hci0", isPowered: true)
            $0.nearby.requiresEncryption = true
        },
        Row(BluetoothCheck(), "warn", "there is no Bluetooth adapter") {
            $0.nearby.adapter = adapter(.noAdapter(name: ""))
        },
        Row(BluetoothCheck(), "fail", "there is no Bluetooth adapter") {
            $0.nearby.adapter = adapter(.noAdapter(name: ""))
            $0.nearby.sharing = .always
        },
        Row(BluetoothCheck(), "fail", "blocked by rfkill") {
            $0.nearby.adapter = adapter(.blocked(adapter: "hci0", hard: false))
            $0.nearby.sharing = .button
        },
        Row(BluetoothCheck(), "fail", "no permission") {
            $0.nearby.adapter = adapter(.noPermission(operation: "advertise"))
            $0.nearby.sharing = .always
        },
        Row(BluetoothCheck(), "fail", "does not support Low Energy") {
            $0.nearby.adapter = adapter(.noLowEnergy(adapter: "hci0"))
            $0.nearby.sharing = .always
        },

        Row(ConsentCheck(), "pass", "button") {
            $0.nearby.hasButton = true
            $0.nearby.sharing = .always
        },
        Row(ConsentCheck(), "warn", "it is stuck") {
            $0.nearby.hasButton = true
            $0.nearby.buttonFault = .stuck
        },
        Row(ConsentCheck(), "warn", "it is missing") {
            $0.nearby.hasButton = true
            $0.nearby.buttonFault = .missing
        },
        Row(ConsentCheck(), "pass", "latchkey consent") { _ in },
        Row(ConsentCheck(), "warn", "no button") { $0.nearby.sharing = .always },
        Row(ConsentCheck(), "fail", "but has no button") { $0.nearby.sharing = .button },

        Row(ListenerCheck(), "skip", "no address") { _ in },
        Row(ListenerCheck(), "skip", "once the agent has started") {
            $0.found[ListenerCheck.name] = ["listen": "127.0.0.1:9464", "idle": true]
        },
        Row(ListenerCheck(), "pass", "listens on 127.0.0.1:9464") {
            $0.found[ListenerCheck.name] = ["listen": "127.0.0.1:9464", "weak": []]
        },
        Row(ListenerCheck(), "warn", "as plain text") {
            $0.found[ListenerCheck.name] = [
                "listen": "192.0.2.7:9464", "weak": ["the token goes over the network as plain text"],
            ]
        },
        Row(ListenerCheck(), "fail", "cannot use the token in /t") {
            let fault = Explanation(of: ListenerError.tokenUnusable(path: "/t", reason: "REASON"))
            $0.found[ListenerCheck.name] = ["listen": "127.0.0.1:9464", "fault": .object(fault.members)]
        },
    ]

    private static let sensorFailure = SensorPoller.Failure(
        sensor: "temperature", error: .sensorAbsent(sensor: "temperature", place: "hwmon"),
        since: Date(timeIntervalSince1970: 0))

    private static func adapter(_ fault: BluetoothError?) -> AdapterStatus {
        AdapterStatus(transport: .kernel, adapter: "hci0", isPowered: true, supportsLowEnergy: true, fault: fault)
    }
}

private func traffic(_ used: Int64, limit: Int64) -> TrafficReport? {
    CalendarMonth("2026-11").map { month in
        TrafficReport(
            traffic: MonthlyTraffic(month: month, used: Traffic(sent: used)), interfaces: ["wwan0"], limit: limit,
            heldBack: 3)
    }
}
