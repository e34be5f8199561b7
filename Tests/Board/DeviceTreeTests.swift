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
            let lines: UInt32?
            let names: [String]
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
    }
    private struct File: Decodable { let boards: [String: [String: Facts]] }

    private static let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let catalog = BoardCatalog(
        folders: [here.appendingPathComponent("../../Boards").standardizedFileURL.path])

    private static let boards: [String: [String: Facts]] = {
        let file = here.appendingPathComponent("device-trees.json")
        return (try? JSONDecoder().decode(File.self, from: Data(contentsOf: file)).boards) ?? [:]
    }()

    /// Debian's kernel knows neither the I/O controller nor the thermometer of this board; Raspberry Pi's own does.
    private static let withoutParts: Set = ["raspberry-pi-5"]
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

    @Test(
        "the button and LED of a shipped definition are in the device tree",
        arguments: boards.keys.sorted().filter { !withoutParts.contains($0) })
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

    @Test(
        "the thermometers of a shipped definition are in the device tree",
        arguments: boards.keys.sorted().filter { !withoutParts.contains($0) })
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
        arguments: withoutParts.sorted())
    func missing(name: String) throws {
        for (tree, facts) in try #require(Self.boards[name]) {
            #expect(facts.chips.isEmpty && facts.zones.isEmpty, "\(tree): compare it with the definition")
        }
    }
}
