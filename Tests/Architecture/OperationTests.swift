import Foundation
import TestSupport
import Testing

/// What must run inside an operation takes a `SingleFlight.Operation`; these are the ways in which one could be had
/// without one.
@Suite("The proof that code runs inside an operation")
struct OperationTests {
    private static let before = """
        import Groundwork
        typealias Operation = SingleFlight<Int>.Operation
        func change(in operation: borrowing Operation) async {}
        """

    @Test("the proof of an operation is lent to it, and handed on", .timeLimit(.minutes(8)))
    func lent() async throws {
        let errors = try await Self.errors(
            """
            func use(_ flights: SingleFlight<Int>) async throws {
                try await flights.join(1) { operation in await change(in: operation) }
            }
            """)
        #expect(errors == [])
    }

    @Test(
        "the proof of an operation cannot be forgotten, made, kept or taken from other operations",
        .timeLimit(.minutes(8)),
        arguments: [
            "func f() async { await change() }",
            "func f() async { await change(in: Operation()) }",
            "final class Keeper { var kept: Operation?; func f(_ operation: borrowing Operation) { kept = operation } }",
            "func f(_ operation: borrowing Operation) { Task { await change(in: operation) } }",
            "func f(_ other: borrowing SingleFlight<String>.Operation) async { await change(in: other) }",
        ])
    func refused(source: String) async throws {
        #expect(try await !Self.errors(source).isEmpty)
    }

    private static func errors(_ source: String) async throws -> [String] {
        try await Compiler.errors(in: "\(before)\n\(source)", libraries: ["CLinux"])
    }
}
