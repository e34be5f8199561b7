import Foundation
import Testing

@testable import Board

@Suite("An LED of the kernel's LED class")
struct ClassLEDTests {
    private func tree() throws -> FakeTree {
        try FakeTree([
            "/sys/class/leds/green:status/brightness": "0\n", "/sys/class/leds/green:status/max_brightness": "255\n",
            "/sys/class/leds/green:status/trigger": "none mmc0 [heartbeat] default-on\n",
            "/sys/class/leds/other/brightness": "1\n",
        ])
    }

    private func content(_ file: String, _ tree: FakeTree) throws -> String {
        try String(contentsOfFile: "\(tree.root)/sys/class/leds/green:status/\(file)", encoding: .utf8)
    }

    @Test("an LED by its class is the first that is there, is lit fully, and gets its trigger back")
    func lit() throws {
        let tree = try tree()
        do {
            let led = try ClassLED(names: ["missing", "green:status", "other"], on: tree.machine)
            #expect(try content("trigger", tree) == "none")
            try led.set(active: true)
            #expect(try content("brightness", tree) == "255")
            try led.set(active: false)
            #expect(try content("brightness", tree) == "0")
        }
        #expect(try content("trigger", tree) == "heartbeat")
        let other = "\(tree.root)/sys/class/leds/other/brightness"
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "1\n")
    }

    @Test("an LED class that is not there is named, also by the check of the board")
    func missing() async throws {
        let tree = try tree()
        #expect(throws: BoardError.partAbsent(.led, names: ["red:status"])) {
            try ClassLED(names: ["red:status"], on: tree.machine)
        }
        func finding(_ toml: String) async throws -> BoardCheck.Finding? {
            let definition = try BoardDefinition(toml: "title = \"T\"\n" + toml, path: "t.toml")
            return await BoardCheck.run(definition, on: tree.machine).first?.finding
        }
        #expect(try await finding("[led]\nclass = \"green:status\"") == .line)
        #expect(
            try await finding("[led]\nclass = [\"a\", \"b\"]") == .fault(.partAbsent(.led, names: ["a", "b"])))
        #expect(try await finding("[button]\ninput = \"Keys\"") == .fault(.partAbsent(.input, names: ["Keys"])))
    }

    @Test(
        "a definition with an LED class or a key takes no line, level, resistor or path",
        arguments: [
            "[led]\nclass = \"a\"\nchip = \"b\"", "[led]\nclass = \"../a\"", "[led]\nclass = []",
            "[led]\nclass = \"a\"\nactive = \"low\"", "[button]\ninput = \"a\"\nkey = 0",
            "[button]\ninput = \"/dev/input/event0\"", "[led]\ninput = \"a\"", "[button]\nclass = \"a\"",
        ])
    func faults(toml: String) {
        #expect(throws: BoardError.self) { try BoardDefinition(toml: "title = \"T\"\n" + toml, path: "t.toml") }
    }
}

@Suite("A button that the kernel shows as a key")
struct KeyLineTests {
    private func edges(_ bytes: [UInt8], key: UInt16?) throws -> [Bool] {
        var down: Set<UInt16> = []
        return KeyLine.edges(of: try #require(KeyEvent.all(in: bytes)), &down, key).map(\.isActive)
    }

    @Test("a key as button is pressed by its own key alone, or by any that does not end the machine")
    func keys() throws {
        #expect(try edges(Keys.press(256), key: 256) == [true, false])
        #expect(try edges(Keys.press(28) + Keys.press(256), key: 256) == [true, false])
        #expect(try edges(Keys.press(28, 256), key: nil) == [true, false, true, false])
        #expect(try edges(Keys.press(116, 142, 143, 408), key: nil).isEmpty)
        #expect(try edges(Keys.press(116), key: 116) == [true, false])
        // Two keys at once are one press; a key that is held repeats nothing.
        let both = Keys.event(1, 2, 1) + Keys.event(1, 3, 1) + Keys.event(1, 2, 0) + Keys.event(1, 3, 2)
        #expect(try edges(both + Keys.event(1, 3, 0), key: nil) == [true, false])
    }

    @Test("a key as button has its edges dated by the kernel")
    func dated() throws {
        var bytes = Keys.event(1, 256, 1)
        withUnsafeBytes(of: (Int(12), Int(345_678))) { bytes.replaceSubrange(0..<$0.count, with: $0) }
        var down: Set<UInt16> = []
        let edges = KeyLine.edges(of: try #require(KeyEvent.all(in: bytes)), &down, 256)
        #expect(edges == [LineEdge(time: .microseconds(12_345_678), isActive: true)])
    }
}
