// Runs the room Board alone and prints what it says, one JSON object a line, for the tests in the virtual board.
//
//   hardware-probe check DEFINITION   whether everything is there
//   hardware-probe run DEFINITION     sensors and button, until it is ended; the LED is lit while the button is down
import Board
import Glibc
import Groundwork

/// One line for the tests.
func say(_ event: String, _ members: [String: JSON]) {
    let line = JSON.object(members.merging(["event": .string(event)]) { _, new in new }).bytes + [UInt8(ascii: "\n")]
    // In one piece: the script writes into the same file.
    _ = line.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

func say(_ event: String, _ name: String, _ error: any Explained) {
    say(event, ["name": .string(name), "code": .string(error.code), "message": .string(error.message)])
}

func check(_ definition: BoardDefinition) async {
    for check in await BoardCheck.run(definition) {
        let name =
            switch check.part {
            case .button: "button"
            case .led: "led"
            case .sensor(let name): name
            }
        switch check.finding {
        case .line: say("present", ["name": .string(name)])
        case .simulated: say("simulated", ["name": .string(name)])
        case .reading(let reading): say("present", ["name": .string(name), "reading": reading.json])
        case .notFitted: say("not-fitted", ["name": .string(name)])
        case .fault(let error): say("fault", name, error)
        }
    }
}

func watchSensors(_ poller: SensorPoller) async throws {
    let (samples, events) = (poller.samples.subscribe(), poller.events.subscribe())
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await poller.run() }
        group.addTask {
            for await set in samples {
                for reading in set.readings { say("reading", reading.json.object ?? [:]) }
            }
        }
        group.addTask {
            for await event in events {
                switch event {
                case .failed(let sensor, let error): say("failed", sensor, error)
                case .recovered(let sensor): say("recovered", ["name": .string(sensor)])
                }
            }
        }
        while try await group.next() != nil {}
    }
}

func watchLines(_ button: Button, _ led: StatusLED) async throws {
    let updates = button.updates.subscribe()
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await button.run() }
        group.addTask { try await led.run() }
        group.addTask {
            for await update in updates {
                switch update {
                case .happened(.pressed):
                    await led.show(.on)
                    say("pressed", [:])
                case .happened(.foundDown): say("found-down", [:])
                case .happened(.released(_, let held)):
                    await led.show(.off)
                    say("released", ["held": .integer(Int64(held / .milliseconds(1)))])
                case .watched: break
                }
            }
        }
        while try await group.next() != nil {}
    }
}

func run(_ definition: BoardDefinition) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await watchSensors(SensorPoller(definition.sensors, retryCap: .seconds(4))) }
        if let button = definition.button, let led = definition.led {
            group.addTask { try await watchLines(Button(button), StatusLED(led)) }
        }
        while try await group.next() != nil {}
    }
}

do {
    guard CommandLine.arguments.count == 3 else { exit(64) }
    let definition = try BoardDefinition(contentsOf: CommandLine.arguments[2])
    switch CommandLine.arguments[1] {
    case "check": await check(definition)
    case "run": try await run(definition)
    default: exit(64)
    }
} catch let error as BoardError {
    say("error", "", error)
    exit(69)
}
