import Board
import Foundation
import Groundwork
import Testing

@Suite("Board catalog")
struct BoardCatalogTests {
    /// The definitions that are shipped.
    private static let shipped = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../Boards").standardizedFileURL.path

    @Test("the board catalog has every shipped definition in order")
    func shippedDefinitions() throws {
        let catalog = BoardCatalog(folders: [Self.shipped])
        #expect(
            catalog.names == [
                "beaglebone-ai-64", "beaglebone-black", "beagleplay", "generic-device-tree", "generic-linux",
                "orange-pi-3b", "orange-pi-5", "raspberry-pi-3", "raspberry-pi-4", "raspberry-pi-5",
                "raspberry-pi-zero-2-w", "rock-3", "rock-5", "simulated",
                "virtual-board",
            ])
        for name in catalog.names { #expect(try catalog.definition(named: name).name == name) }
    }

    @Test("the recipes that docs have for parts are definitions")
    func recipes() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../docs/sensors.md")
        let recipes = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "```toml\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
        #expect(recipes.count >= 5)
        for recipe in recipes { _ = try BoardDefinition(toml: "title = \"t\"\n" + recipe, path: "recipe.toml") }
    }

    @Test(
        "the board catalog recognizes a board by its device tree's model",
        arguments: [
            ("Raspberry Pi 3 Model B Plus Rev 1.3", "raspberry-pi-3"),
            ("Raspberry Pi 4 Model B Rev 1.4", "raspberry-pi-4"),
            ("Raspberry Pi Compute Module 4 Rev 1.0", "raspberry-pi-4"),
            ("Raspberry Pi 5 Model B Rev 1.0", "raspberry-pi-5"),
            ("Raspberry Pi Zero 2 W Rev 1.0", "raspberry-pi-zero-2-w"),
            ("Radxa ROCK 5B", "rock-5"), ("Pine64 PinePhone (1.2)", "generic-linux"),
        ])
    func detects(model: String, name: String) throws {
        let tree = try FakeTree(["/proc/device-tree/model": model + "\0"])
        let detection = try BoardCatalog(folders: [Self.shipped]).detect(tree.machine)
        #expect(detection.definition.name == name)
        #expect(detection.model == model)
    }

    @Test("the board catalog prefers the definition with the longest match of the model")
    func mostSpecific() throws {
        let own = try FakeTree([
            "/a.toml": "title = \"a\"\nmodels = \"Acme\"", "/b.toml": "title = \"b\"\nmodels = \"Acme Mega\"",
            "/c.toml": "title = \"c\"\nmodels = \"Acm\"", "/proc/device-tree/model": "Acme Mega 2\0",
        ])
        #expect(try BoardCatalog(folders: [own.root]).detect(own.machine).definition.name == "b")
    }

    @Test("the board catalog takes a machine without a device tree for generic Linux")
    func noDeviceTree() throws {
        let detection = try BoardCatalog(folders: [Self.shipped]).detect(try FakeTree().machine)
        #expect(detection.definition.name == "generic-linux")
        #expect(detection.model == nil)
    }

    @Test("the board catalog prefers the administrator's definition to the package's")
    func override() throws {
        let own = try FakeTree(["/raspberry-pi-5.toml": "title = \"Mine\""])
        #expect(try BoardDefinition.load(named: "raspberry-pi-5", searching: [own.root, Self.shipped]).title == "Mine")
    }

    @Test("the board catalog does not fall back to the package's definition for a faulty override")
    func faultyOverride() throws {
        let own = try FakeTree(["/raspberry-pi-5.toml": "titel = \"Mine\""])
        #expect(throws: BoardError.self) {
            try BoardDefinition.load(named: "raspberry-pi-5", searching: [own.root, Self.shipped])
        }
    }

    @Test("the board catalog reports definitions that were skipped during detection")
    func skipsFaulty() throws {
        let own = try FakeTree([
            "/odd.toml": "[", "/proc/device-tree/model": "Raspberry Pi 4 Model B\0",
        ])
        let detection = try BoardCatalog(folders: [own.root, Self.shipped]).detect(own.machine)
        #expect(detection.definition.name == "raspberry-pi-4")
        #expect(detection.skipped.map(\.code) == ["board.definition-faulty"])
    }

    @Test(
        "the board catalog lists the known definitions if there is no such definition",
        arguments: ["raspberry-pi-9", "../Boards/simulated", ".hidden"])
    func absent(name: String) throws {
        #expect(
            throws: BoardError.definitionAbsent(
                name: name, searched: [Self.shipped], known: BoardCatalog(folders: [Self.shipped]).names)
        ) {
            try BoardDefinition.load(named: name, searching: [Self.shipped])
        }
    }

    @Test("the board catalog reads UTF-16 with a mark, and refuses by the line what is no text")
    func encodings() throws {
        let own = try FakeTree([:])
        let text = try Data(contentsOf: URL(filePath: "\(Self.shipped)/generic-linux.toml"))
        try (Data([0xFF, 0xFE]) + Data(text.flatMap { [$0, 0] })).write(to: URL(filePath: "\(own.root)/wide.toml"))
        #expect(try BoardDefinition.load(named: "wide", searching: [own.root]).name == "wide")
        try Data([0x0A, 0xE4]).write(to: URL(filePath: "\(own.root)/bad.toml"))
        #expect(
            throws: BoardError.definitionUnreadable(
                path: "\(own.root)/bad.toml", reason: "line 2 is not UTF-8: save it as UTF-8")
        ) {
            try BoardDefinition.load(named: "bad", searching: [own.root])
        }
    }

    @Test("the board catalog refuses a file that is too large")
    func tooLarge() throws {
        let own = try FakeTree(["/big.toml": String(repeating: "#", count: 65_537)])
        #expect(
            throws: BoardError.definitionUnreadable(
                path: "\(own.root)/big.toml", reason: "it has more than 65536 bytes")
        ) {
            try BoardDefinition.load(named: "big", searching: [own.root])
        }
    }
}
