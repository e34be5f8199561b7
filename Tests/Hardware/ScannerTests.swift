import Groundwork
import TestSupport
import Testing

/// One board is booted for all of these; each looks at its part of the log.
@Suite(
    "A scanner and a key behind the kernel's input layer",
    .enabled(if: VirtualBoard.missing == nil, "no virtual board here: \(VirtualBoard.missing ?? "")"),
    .timeLimit(.minutes(40)))
struct ScannerTests {
    private static let run = VirtualBoard.Run {
        try await VirtualBoard.log(of: "scanner", definition: "virtual-board") { VirtualBoard.withoutSensors($0) }
    }

    private func events(during step: String) async throws -> [String] {
        try await Self.run.value.during(step).compactMap { $0["event"]?.string }
    }

    @Test("do all that the script waits for")
    func complete() async throws {
        let log = try await Self.run.value
        #expect(log.missed == [])
        #expect(log.lines.filter { $0["event"]?.string == "unreadable" } == [])
    }

    @Test("a key of the device tree is the button, and the one that powers off is not")
    func button() async throws {
        #expect(try await events(during: "button").filter { $0 == "button.pressed" }.count == 1)
    }

    @Test("a scanner that is plugged in is read; a URL without the gateway's key is refused, the next one enrolls")
    func scanned() async throws {
        #expect(try await events(during: "plugged").contains("enrollment.scanner-ready"))
        let refusal = try await Self.run.value.during("refused").last { $0["event"]?.string == "enrollment.refused" }
        #expect(refusal?["code"]?.string == "gateway.enrollment-url-without-key-hash")
        let enrolled = try await events(during: "enrolled").filter { $0.hasPrefix("enrollment.") }
        #expect(enrolled.prefix(2) == ["enrollment.found", "enrollment.taken"])
        #expect(!enrolled.contains("enrollment.refused"))
        // What grep says when it finds nothing: the log has no URL.
        let observed = try await Self.run.value.during("released").last { $0["event"]?.string == "observed" }
        #expect(observed?["value"]?.integer == 1)
    }
}
