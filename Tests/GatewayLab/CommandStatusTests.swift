import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    @Suite("Exit statuses and output of latchkey-lab")
    struct CommandStatusTests {
        private static let program = CommandTests.program

        @Test("latchkey-lab reports errors with its exit status and its own name (sysexits.h)")
        func statuses() async throws {
            try await Workshop.open { shop in
                let any = ["--port", "0", "--admin-port", "0", "--broker-port", "0"]
                for (arguments, status, message) in [
                    (
                        ["devices", "--frob"], 64,
                        "Unknown option '--frob'. Did you mean '--json'?\n  Usage: latchkey-lab devices"
                    ),
                    (["devcies"], 64, "there is no command devcies\n  did you mean: latchkey-lab devices\n"),
                    (["fault", "nams"], 64, "did you mean: latchkey-lab fault names\n"),
                    (["help", "mpni"], 64, "did you mean: latchkey-lab mpin\n"),
                    (["mpin", "xyzzy"], 64, "\n  latchkey-lab mpin --help lists the commands\n"),
                    (["explain", "lab.not-runing"], 65, "did you mean: lab.not-running"),
                    (["devices", "--admin", "nonsense"], 64, "nonsense is not an address"),
                    (["fault", "part", "cable", "stop"], 64, "There is no part cable"),
                    (["run", "--prefix", "a/b"] + any, 64, "the prefix a/b is not a bare word"),
                    (["devices", "--admin", "http://127.0.0.1:1"], 69, "no lab is answering at http://127.0.0.1:1"),
                    (["run", "--data", "/dev/null/lab"] + any, 78, "cannot write /dev/null/lab"),
                    (["run", "--broker-plugin", "\(shop.directory)/none.so"] + any, 78, "none.so is missing"),
                ] as [([String], Int32, String)] {
                    let failure = await #expect(throws: ProgramFailure.self) { try await run(Self.program, arguments) }
                    #expect(failure?.status == status, "\(arguments)")
                    let said = failure?.errors ?? ""
                    #expect(said.hasPrefix("latchkey-lab: ") && said.contains(message), "\(said)")
                }
                let asJSON = await #expect(throws: ProgramFailure.self) {
                    try await run(Self.program, ["devices", "--admin", "http://127.0.0.1:1", "--json"])
                }
                let printed = try JSON(parsing: Array((asJSON?.errors ?? "").utf8))
                #expect(printed["error"]?["code"] == "lab.not-running")
                let version = try await run(Self.program, ["--version"]).output
                #expect(version == Release.version + "\n")
                let help = try await run(Self.program, ["--help"]).output
                #expect(help.contains("fault"))
            }
        }

        @Test("latchkey-lab passes on the lab's refusals, and uses the token of its data directory")
        func refusals() async throws {
            let data = FileManager.default.temporaryDirectory.appendingPathComponent("lab-" + UUID().uuidString).path
            defer { try? FileManager.default.removeItem(atPath: data) }
            try await Workshop.open({ $0.dataDirectory = data }) { shop in
                let place = ["--admin", shop.lab.adminURL, "--data", data]
                for (arguments, status, message) in [
                    (
                        ["fault", "part", "broker", "nap"], 65,
                        "the broker has no action nap, only stop, start, suspend"
                    ),
                    (["fault", "set", "drop", "--endpoint", "E99"], 65, "latchkey-lab fault names lists them"),
                    (["logins", "refuse", "nothing"], 65, "the lab has no open login nothing"),
                    (["devices", "remove", "nobody"], 65, "the lab has no device nobody"),
                    (["messages"], 1, ""),
                ] as [([String], Int32, String)] {
                    let failure = await #expect(throws: ProgramFailure.self) {
                        try await run(Self.program, arguments + place)
                    }
                    #expect(failure?.status == status, "\(arguments)")
                    #expect(failure?.errors.contains(message) == true || message.isEmpty)
                }
                let without = await #expect(throws: ProgramFailure.self) {
                    try await run(Self.program, ["devices", "--admin", shop.lab.adminURL, "--data", shop.directory])
                }
                #expect(without?.status == 77)
                #expect(without?.errors.contains("\(shop.directory)/admin.token") == true)
                let link = try await run(Self.program, ["page"] + place).output
                #expect(link == shop.lab.adminPageURL + "\n")
                // As it is copied from what `run` printed; what is used is the file.
                let pasted = ["devices", "--admin", "\(shop.lab.adminURL)/#other", "--data", data]
                let listed = try await run(Self.program, pasted).output
                #expect(listed == "no devices\n")
            }
        }

        @Test(
            "latchkey-lab names the port that another program uses", arguments: ["port", "admin-port", "broker-port"])
        func portTaken(option: String) async throws {
            try await Workshop.open { shop in
                var ports = ["port": 0, "admin-port": 0, "broker-port": 0]
                // Any listener will do.
                ports[option] = shop.lab.port
                let failure = await #expect(throws: ProgramFailure.self) {
                    try await run(Self.program, ["run"] + ports.flatMap { ["--\($0)", "\($1)"] })
                }
                #expect(failure?.status == 69)
                let said = failure?.errors ?? ""
                let place = "127.0.0.1 port \(shop.lab.port)"
                #expect(said.hasPrefix("latchkey-lab: cannot listen on \(place): another program is listening there\n"))
                #expect(said.contains("--\(option)") && !said.contains("mosquitto"), "\(said)")
            }
        }

        @Test("latchkey-lab prints completion scripts, and explains every name that its faults take")
        func explains() async throws {
            for shell in ["bash", "zsh", "fish"] {
                let script = try await run(Self.program, ["completions", shell]).output
                #expect(script.contains("enroll") && script.contains("fault"))
                if shell == "bash" { try await run("bash", ["-n"], input: Array(script.utf8)) }
            }
            let names = try await run(Self.program, ["fault", "names"]).output
            let lines = names.split(separator: "\n")
            for endpoint in Endpoint.allCases {
                #expect(lines.contains { $0.hasPrefix("\(endpoint.rawValue) ") && $0.hasSuffix(endpoint.summary) })
            }
            for name in ["captive-portal", "other-authority", "suspend"] { #expect(names.contains(name)) }
        }

        @Test("latchkey-lab explains every error code that the lab's sources name, and what to do")
        func explainsCodes() async throws {
            let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().appendingPathComponent("Sources")
            var named = Set<String>()
            for folder in ["GatewayLab", "latchkey-lab"] {
                let root = sources.appendingPathComponent(folder)
                for path in try FileManager.default.subpathsOfDirectory(atPath: root.path)
                where path.hasSuffix(".swift") {
                    let text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
                    named.formUnion(text.matches(of: /"(lab\.[a-z-]+)"/).map { String($0.1) })
                }
            }
            #expect(named.count > 10)
            let listed = try JSON(
                parsing: Array(try await run(Self.program, ["explain", "--list", "--json"]).output.utf8))
            let errors = listed["errors"]?.array ?? []
            #expect(Set(errors.compactMap { $0["code"]?.string }) == named)
            #expect(errors.allSatisfy { $0["kind"]?.string != nil && $0["message"]?.string != nil })

            let one = try await run(Self.program, ["explain", "lab.not-running"]).output
            #expect(one.contains("what to do   start one with latchkey-lab run") && one.contains("exit status  69"))
            let table = try await run(Self.program, ["explain", "--list"]).output
            #expect(table.contains("lab.broker-missing"))
            for (arguments, status) in [(["lab.nothing"], 65), ([], 64)] as [([String], Int32)] {
                let failure = await #expect(throws: ProgramFailure.self) {
                    try await run(Self.program, ["explain"] + arguments)
                }
                #expect(failure?.status == status)
            }
        }

        @Test("latchkey-lab draws a QR code with color codes only on a terminal")
        func colors() async throws {
            let data = FileManager.default.temporaryDirectory.appendingPathComponent("lab-" + UUID().uuidString).path
            defer { try? FileManager.default.removeItem(atPath: data) }
            try await Workshop.open({ $0.dataDirectory = data }) { shop in
                let command = "\(Self.program) enroll --qr --admin \(shop.lab.adminURL) --data \(data)"
                let piped = try await run("sh", ["-c", command]).output
                #expect(piped.contains("█") && !piped.contains("\u{1B}"))
                let terminal = ["-u", "NO_COLOR", "TERM=xterm", "script", "-qec", command, "/dev/null"]
                let shown = try await run("env", terminal).output
                #expect(shown.contains("█") && shown.contains("\u{1B}["))
            }
        }
    }
}
