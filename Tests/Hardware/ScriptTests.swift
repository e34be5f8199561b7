import Foundation
import TestSupport
import Testing

/// The scripts that run on the virtual board; what is tested here needs no board.
@Suite("A script on the virtual board")
struct ScriptTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    private static let steps = folder.appending(path: "Scripts/steps.sh").path

    /// Runs lines that begin with the steps, and returns the log that they leave.
    private func run(_ lines: String) async throws -> (status: Int32, log: [String], errors: String) {
        let log = FileManager.default.temporaryDirectory.appending(path: "steps-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: log) }
        let ended = try await Program(url: URL(filePath: "/bin/busybox")).run(
            ["sh", "-c", ". \(Self.steps)\n\(lines)"], environment: ["LOG": log.path, "PROGRAMS": "/nonexistent"])
        return (ended.status, ended.output.split(separator: "\n").map(String.init), ended.errors)
    }

    @Test("a script on the virtual board stops waiting for output of a program that has ended")
    func ended() async throws {
        let ended = try await run(
            """
            seen=0
            echo '"said"' >> "$LOG" &
            speaker=$!
            await '"said"' $speaker && observe heard 1
            await '"never"' $speaker
            """)
        #expect(ended.status == 1)
        #expect(
            ended.log == [
                #""said""#, #"{"event":"observed","name":"heard","value":1}"#, #"{"event":"missed","name":"never"}"#,
            ])
    }

    @Test("a phone of the virtual board can be given orders before it has begun to read them")
    func ordersBeforeReading() async throws {
        let fifo = FileManager.default.temporaryDirectory.appending(path: "orders-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: fifo) }
        let ended = try await Program(url: URL(filePath: "/usr/bin/python3")).run(
            [
                "-c",
                """
                import asyncio, orders, sys
                async def read():
                    given = orders.orders(sys.argv[1])
                    with open(sys.argv[1], "a") as script:
                        script.write("eager\\n")
                    print(await asyncio.wait_for(anext(given), 60))
                asyncio.run(read())
                """, fifo,
            ], environment: ["PYTHONPATH": Self.folder.appending(path: "Phone").path])
        #expect(ended.output == "eager\n", "\(ended.errors)")
    }

    @Test("a script on the virtual board ends with the first wait in vain, and names it")
    func givesUp() async throws {
        let ended = try await run(
            """
            patience=2 pause=0
            until_true met true
            until_true first false
            step never
            """)
        #expect(ended.status == 1)
        #expect(ended.log == [#"{"event":"missed","name":"first"}"#])
        #expect(ended.errors.contains("gave up after") && ended.errors.contains("first"))
    }

    @Test(
        "a script on the virtual board whose precondition does not hold was not run, whether that failed or was awaited",
        arguments: ["given 'the radio' until_true 'a sign' false", "given 'the radio' false"])
    func precondition(_ line: String) async throws {
        let ended = try await run(
            """
            patience=2 pause=0
            given 'bluetoothd' until_true met true
            \(line)
            step never
            """)
        #expect(ended.status == 75)
        let reason = try #require(NotRun((ended.status, ended.log.joined(separator: "\n"), ended.errors))?.reason)
        #expect(reason.hasPrefix("in vain: the radio; waited for: "))
        // After a precondition that held, what fails is Latchkey's.
        let later = try await run("patience=2 pause=0\ngiven 'bluetoothd' true\nuntil_true more false")
        #expect(later.status == 1 && NotRun((later.status, "", "")) == nil)
    }
}
