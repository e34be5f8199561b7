import Foundation
import Testing

@testable import Board

/// The shipped definitions, against what Debian's kernel says of the boards: device-trees.json, which
/// deploy/check-boards extracts from the device trees.
@Suite("Shipped definitions beside device trees")
struct DeviceTreeTests {
    struct Facts: Decodable, Sendable {
        struct Chip: Decodable, Sendable {
            /// Of chips whose label does not depend on the order of probing.
            let label: String?
            let driver: String
            /// Where the device tree or the driver says how many there are.
            let lines: UInt32?
            let names: [String]
        }
        struct Monitor: Decodable, Sendable {
            let device: String
            /// Those that the device tree has the parts for.
            let channels: [String]
        }
        struct Keys: Decodable, Sendable {
            let device: String
            let codes: [UInt16]
        }

        let model: String
        let chips: [Chip]
        let zones: [String]
        let leds: [String]
        let keys: [Keys]
        let hwmon: [Monitor]
    }
    private struct File: Decodable { let boards: [String: [String: Facts]] }

    private static let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let catalog = BoardCatalog(
        folders: [here.appendingPathComponent("../../Boards").standardizedFileURL.path])

    private static let boards: [String: [String: Facts]] = {
        let file = here.appendingPathComponent("device-trees.json")
        return (try? JSONDecoder().decode(File.self, from: Data(contentsOf: file)).boards) ?? [:]
    }()

    /// Debian's kernel knows neither thermometers nor the fan of this board; Raspberry Pi's own does.
    private static let withoutMonitors: Set = ["raspberry-pi-5"]
    /// Debian's device trees have these fans without the interrupt of a tachometer; overlays and other kernels have it.
    private static let withoutTachometer: Set = ["orange-pi-5", "rock-5"]
    /// Of no certain board.
    private static let ofNoBoard: Set = ["generic-linux", "generic-device-tree", "simulated", "virtual-board"]

    @Test("every shipped definition of a board has device trees to be compared with")
    func complete() {
        #expect(Set(Self.boards.keys) == Set(Self.catalog.names).subtracting(Self.ofNoBoard))
    }

    @Test("each device tree's model chooses the shipped definition of its board", arguments: boards.keys.sorted())
    func model(name: String) throws {
        for (tree, facts) in try #require(Self.boards[name]) {
            let machine = try FakeTree(["/proc/device-tree/model": facts.model + "\0"])
            #expect(try Self.catalog.detect(machine.machine).definition.name == name, "\(tree)")
        }
    }

    @Test("the button and LED of a shipped definition are in the device tree", arguments: boards.keys.sorted())
    func lines(name: String) throws {
        let definition = try Self.catalog.definition(named: name)
        for (tree, facts) in try #require(Self.boards[name]) {
            for line in [definition.button, definition.led].compactMap(\.self) {
                #expect(Self.has(facts, line.place), "\(tree): \(line.place)")
            }
        }
    }

    private static func has(_ facts: Facts, _ place: LineDefinition.Place) -> Bool {
        switch place {
        case .simulated: return false
        case .gpio(let label, .name(let line)):
            let chips = facts.chips.filter { $0.label == label }
            return chips.count == 1 && chips[0].names.count(where: { $0 == line }) == 1
        case .gpio(let label, .offset(let line)):
            return facts.chips.contains { $0.label == label && line < $0.lines ?? 0 }
        case .ledClass(let names):
            // Without LEDs of its own, as a module on a carrier.
            return facts.leds.isEmpty || names.contains(where: facts.leds.contains)
        case .input(let devices, let key):
            guard let device = devices.lazy.compactMap({ name in facts.keys.first { $0.device == name } }).first else {
                return false
            }
            return key.map(device.codes.contains) ?? true
        }
    }

    @Test("chips have as many lines as the device tree names, where both are known", arguments: boards.keys.sorted())
    func counts(name: String) throws {
        for (tree, facts) in try #require(Self.boards[name]) {
            for chip in facts.chips where !chip.names.isEmpty {
                // Some are counted by their driver, bank by bank.
                let lines = chip.lines ?? UInt32(chip.names.count)
                #expect(lines == UInt32(chip.names.count), "\(tree): \(chip.driver)")
            }
            // All others are counted, as far as a definition may name them.
            #expect(facts.chips.allSatisfy { $0.label == nil || $0.lines != nil }, "\(tree)")
        }
    }

    @Test(
        "the fans of a shipped definition are on at least one of its boards",
        arguments: boards.keys.sorted().filter { !withoutMonitors.contains($0) })
    func monitors(name: String) throws {
        let definition = try Self.catalog.definition(named: name)
        let trees = try #require(Self.boards[name])
        for sensor in definition.sensors {
            guard case .hwmon(let devices, let channel, _) = sensor.source else { continue }
            let monitors = trees.values.flatMap(\.hwmon).filter { devices.contains($0.device) }
            #expect(!monitors.isEmpty, "\(sensor.name)")
            let isEverywhere = trees.values.allSatisfy { $0.hwmon.contains { devices.contains($0.device) } }
            #expect(sensor.isOptional || isEverywhere, "\(sensor.name)")
            let hasChannel = monitors.contains { $0.channels.contains(channel) }
            #expect(hasChannel == !Self.withoutTachometer.contains(name), "\(sensor.name): compare it")
        }
    }

    @Test(
        "the thermometers of a shipped definition are in the device tree",
        arguments: boards.keys.sorted().filter { !withoutMonitors.contains($0) })
    func zones(name: String) throws {
        let definition = try Self.catalog.definition(named: name)
        for (tree, facts) in try #require(Self.boards[name]) {
            for sensor in definition.sensors where !sensor.isOptional {
                guard case .thermal(let zones) = sensor.source else { continue }
                #expect(zones.contains(where: facts.zones.contains), "\(tree): \(sensor.name)")
            }
            // And the kernel's thermometer of the processor is not forgotten.
            #expect(facts.zones.isEmpty || definition.sensors.contains { $0.name == "cpu.temperature" }, "\(tree)")
        }
    }

    @Test(
        "the kernel's device trees still lack the parts that shipped definitions leave out",
        arguments: withoutMonitors.sorted())
    func missing(name: String) throws {
        for (tree, facts) in try #require(Self.boards[name]) {
            #expect(facts.zones.isEmpty && facts.hwmon.isEmpty, "\(tree): compare it with the definition")
        }
    }
}
