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

    @Test("is lent to an operation, and handed on", .timeLimit(.minutes(2)))
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
        "cannot be forgotten, made, kept or taken from operations of another kind", .timeLimit(.minutes(2)),
        arguments: [
            "func f() async { await change() }",
            "func f() async { await change(in: Operation()) }",
            "final class Keeper { var kept: Operation?; func f(_ operation: borrowing Operation) { kept = operation } }",
            "func f(_ operation: borrowing Operation) { Task { await change(in: operation) } }",
            "func f(_ other: borrowing SingleFlight<String>.Operation) async { await change(in: other) }",
        ])
    func refused(source: String) async throws {
        let errors = try await Self.errors(source)
        #expect(!errors.isEmpty && errors.allSatisfy { !$0.contains("no such module") }, "\(errors)")
    }

    /// What the compiler says of a file that stands on the modules this test was built with.
    private static func errors(_ source: String) async throws -> [String] {
        let modules = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "Modules")
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        let file = FileManager.default.temporaryDirectory.appending(
            path: "latchkey-operation-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        try "\(before)\n\(source)".write(to: file, atomically: true, encoding: .utf8)
        // Not -typecheck: what becomes of a value that cannot be copied is looked at later.
        let compiled = try await Program.found.run([
            "swiftc", "-emit-sil", "-o", "/dev/null", "-parse-as-library", "-swift-version", "6", "-I", modules.path,
            "-Xcc", "-fmodule-map-file=\(root.appending(path: "Sources/CLinux/module.modulemap").path)", file.path,
        ])
        return compiled.errors.split(separator: "\n").map(String.init).filter { $0.contains("error:") }
    }
}
