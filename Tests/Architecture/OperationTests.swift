import Foundation
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
    func lent() throws {
        let errors = try Self.errors(
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
    func refused(source: String) throws {
        let errors = try Self.errors(source)
        #expect(!errors.isEmpty && errors.allSatisfy { !$0.contains("no such module") }, "\(errors)")
    }

    /// What the compiler says of a file that stands on the modules this test was built with.
    private static func errors(_ source: String) throws -> [String] {
        let modules = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "Modules")
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        let file = FileManager.default.temporaryDirectory.appending(
            path: "latchkey-operation-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        try "\(before)\n\(source)".write(to: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // Not -typecheck: what becomes of a value that cannot be copied is looked at later.
        process.arguments = [
            "swiftc", "-emit-sil", "-o", "/dev/null", "-parse-as-library", "-swift-version", "6", "-I", modules.path,
            "-Xcc", "-fmodule-map-file=\(root.appending(path: "Sources/CLinux/module.modulemap").path)", file.path,
        ]
        let output = Pipe()
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").map(String.init).filter { $0.contains("error:") }
    }
}
