import Cryptography
import Foundation
import Groundwork
import TestSupport
import Testing
@_spi(KeyBytes) import Vault

@testable import GatewayLab

/// Everything that a board does, at the most verbose, and then a search for each secret that came up.
@Suite(
    "A secret", .serialized, .timeLimit(.minutes(15)),
    .enabled(if: getuid() == 0, "reading a daemon's memory is for root"))
struct SecretTests {
    /// The program as it is shipped, where there is one: it is linked otherwise than that of this build.
    private static let program = Program.shipped
    private static let password = "correct horse battery staple 4711"
    private static let wrongPassword = "incorrect-donkey-battery-0815"
    private static let passphrase = "the-vault-opens-with-these-words-2342"
    private static let pin = "open the third door at 90417263"
    private static let wrongPIN = "open the third door at 90417264"

    @Test(
        "a secret is in no log, answer, event, process list or file, nor in an idle daemon's memory"
    )
    func nowhere() async throws {
        var configuration = LabConfiguration()
        configuration.givesSessionsToClients = true
        configuration.users[0].password = Self.password
        let lab = try await Lab.start(configuration)
        let (board, other) = (try Self.makeBoard(), try TestBoard())
        do {
            try await search(lab, board, other)
        } catch {
            let log = board.daemon?.errors.lines.suffix(40).joined(separator: "\n") ?? ""
            for board in [board, other] { try? await board.tearDown() }
            await lab.stop()
            throw Unexpected("\(error)\n--- the daemon's last words:\n\(log)")
        }
        for board in [board, other] { try await board.tearDown() }
        await lab.stop()
    }

    /// A board whose vault is opened by a passphrase, and which logs all it can.
    private static func makeBoard() throws -> TestBoard {
        let board = try TestBoard(program: program)
        let file = board.folder.appending(path: "passphrase")
        try Data(passphrase.utf8).write(to: file)
        chmod(file.path, 0o600)
        let settings = try String(contentsOf: board.configuration, encoding: .utf8).replacingOccurrences(
            of: "slot = \"development-key-file\"", with: "slot = \"passphrase\"\npassphrase_file = \"\(file.path)\"")
        try settings.write(to: board.configuration, atomically: true, encoding: .utf8)
        return board
    }

    private func search(_ lab: Lab, _ board: TestBoard, _ other: TestBoard) async throws {
        var said: [String] = []
        var secrets = [
            KnownSecret("password", Self.password), KnownSecret("wrong password", Self.wrongPassword),
            KnownSecret("passphrase of the vault", Self.passphrase), KnownSecret("PIN", Self.pin),
            KnownSecret("wrong PIN", Self.wrongPIN),
        ]
        try await board.start()
        try await other.start()
        let follower = try board.follow("status", "--follow")
        _ = try await follower.output.line(containing: "version")

        /// Runs a command, keeps what it says, and notes every token that the gateway knows by now.
        func run(_ arguments: [String], on board: TestBoard, input: String? = nil) async throws -> Program.Result {
            let result = try await Program(name: "latchkey").run(arguments + ["--socket", board.socket], input: input)
            said += [result.output, result.errors]
            secrets += await Self.secrets(of: lab)
            return result
        }
        for (board, options) in [(board, []), (other, ["--no-register"])] {
            let url = try await lab.mintEnrollmentURL()
            let ticket = try #require(url.split(whereSeparator: { "?&=".contains($0) }).dropFirst(2).first)
            secrets.append(KnownSecret("enrollment ticket", String(ticket)))
            #expect(try await run(["enroll", "-"] + options, on: board, input: url + "\n").status == 0)
            #expect(try await run(["enroll", "-"], on: board, input: url + "\n").status != 0, "it works once")
        }
        _ = try await board.status { $0.isConnected }
        let login = ["login", "--password-stdin", "--json", "--user"]
        #expect(try await run(login + ["alice"], on: board, input: Self.password + "\n").status == 0)
        #expect(try await run(login + ["bob"], on: board, input: Self.wrongPassword + "\n").status != 0)
        _ = try await run(["publish", "door", "open"], on: board)

        // A log-in by QR code: codes and proof keys.
        let showing = try other.follow("login", "--qr")
        let code = try await showing.output.line(containing: #""event":"qr-code""#)
        let shown = try JSONSerialization.jsonObject(with: Data(code.utf8))
        let letting = try board.follow(
            "authorize", try #require(value(shown, "data", "text") as? String), "--name", "other")
        let question = try #require(try await board.question()["id"])
        _ = try await run(["consent", "grant", "\(question)"], on: board)
        #expect(try await letting.ended(within: 60) == 0)
        #expect(try await showing.ended(within: 60) == 0)
        // A token that was refused, one that is renewed, faults, and a broker that comes back.
        try await lab.disableTokens()
        for _ in 0..<2 { _ = try await run(["call", "GET", "/lab/hello"], on: board) }
        lab.inject(Fault(.error(code: 3_003_201, status: 401), at: .token, times: 1))
        lab.inject(Fault(.captivePortal, at: .hello, times: 1))
        try await lab.revokeTokens()
        for _ in 0..<2 { _ = try await run(["call", "GET", "/lab/hello"], on: board) }
        await lab.stopBroker()
        try await lab.startBroker()
        _ = try await board.status { $0.isConnected }
        secrets += try await Self.useMPin(lab, board) { arguments, input in
            try await run(["mpin"] + arguments, on: board, input: input.map { $0 + "\n" }).status
        }
        for command in ["status", "doctor", "whoami"] { _ = try await run([command, "--json"], on: board) }
        _ = try await run(["proximity", "audit", "--json"], on: board)

        // What the vault holds, by its own word.
        let stored = try await Self.content(ofVaultIn: board)
        secrets += stored
        // A token of M-Pin is in memory for the time of a login only.
        let held = stored.filter { !$0.name.hasPrefix("secrets ") }
        #expect(stored.contains { $0.name.hasPrefix("secrets ") && $0.name.hasSuffix(" token") })
        #expect(
            held.contains { $0.name.hasPrefix("software:device-") } && held.contains { $0.name.hasSuffix("refresh") })
        let outputs =
            said + [follower, showing, letting].flatMap { [$0.output.text, $0.errors.text] }
            + [board, other].map { $0.daemon?.errors.text ?? "" }
        for secret in secrets {
            for output in outputs where secret.isIn(output) {
                Issue.record("\(secret.name) is in: \(output.prefix(2000))")
            }
        }
        #expect(outputs.joined().contains("trace") || outputs.joined().contains("debug"))
        try await searchProcesses(secrets, [board, other])
        try searchFiles(secrets, board)
        try await searchMemory(secrets, held, board)
        try await follower.stop(SIGKILL)
    }

    /// Registers a user at the lab's M-Pin back end, and logs in after a wrong PIN.
    ///
    /// - Parameter run: a subcommand of `latchkey mpin`, with its input; returns its exit status.
    /// - Returns: what was secret of it, and is needed no more.
    private static func useMPin(
        _ lab: Lab, _ board: TestBoard, run: ([String], String?) async throws -> Int32
    ) async throws -> [KnownSecret] {
        let authorities = board.folder.appending(path: "lab.pem").path
        try lab.caCertificatePEM.write(toFile: authorities, atomically: true, encoding: .utf8)
        #expect(try await run(["backend", "add", "door", lab.mpinURL, "--authorities", authorities], nil) == 0)
        #expect(try await run(["user", "new", "alice"], nil) == 0)
        #expect(try await run(["register", "start"], nil) == 0)
        let started = try #require(await lab.mpinUsers().first)
        try await lab.activateMPin("alice")
        #expect(try await run(["register", "confirm"], nil) == 0)
        #expect(try await run(["register", "finish"], pin) == 0)
        #expect(try await run(["login"], wrongPIN) != 0)
        #expect(try await run(["login"], pin) == 0)

        let given = try await lab.store.change { core in
            let authorities = MPinAuthorities(state: try core.mpinState())
            let hash = MPinNumber.hash(Hex.decode(started.id) ?? [])
            return [try authorities.share(.one, of: hash, lie: nil), try authorities.share(.two, of: hash, lie: nil)]
        }
        let secret = try G1Point(encoding: given[0]).adding(G1Point(encoding: given[1])).encoding
        return [
            KnownSecret("regOTT", try #require(started.regOTT)), KnownSecret("client secret share 1", given[0]),
            KnownSecret("client secret share 2", given[1]), KnownSecret("client secret", secret),
        ]
    }

    /// What the lab has given out, and was given.
    private static func secrets(of lab: Lab) async -> [KnownSecret] {
        await lab.store.read { core in
            core.state.accessTokens.keys.map { KnownSecret("access token", $0) }
                + core.state.refreshTokens.keys.map { KnownSecret("refresh token", $0) }
                + core.state.instances.values.map { KnownSecret("client secret", $0.secret) }
                + core.authorizations.values.compactMap { $0.code.map { KnownSecret("authorization code", $0.value) } }
        }
    }

    /// The vault's keys and tokens, read from a copy of its files.
    private static func content(ofVaultIn board: TestBoard) async throws -> [KnownSecret] {
        let copy = board.folder.appending(path: "copy")
        try FileManager.default.copyItem(at: board.state, to: copy)
        defer { try? FileManager.default.removeItem(at: copy) }
        let vault = try await Vault.open(
            at: copy.appending(path: "vault.db").path, with: [Passphrase(SecretBytes(utf8: Self.passphrase))],
            creating: false)
        var found: [KnownSecret] = []
        for scope in try await vault.scopes() {
            for name in try await vault.names(scope: scope) {
                guard let record = try await vault.exposedRecord(name) else { continue }
                switch record.kind {
                case .privateKey: found.append(KnownSecret(name.name, record.content.exposed()))
                case .token, .clientCredentials:
                    found += Self.secrets(in: try JSON(parsing: record.content.exposed()), of: name.name)
                default: break
                }
            }
        }
        await vault.close()
        return found
    }

    /// The secret members of a document, each by its path.
    private static func secrets(in document: JSON, of path: String) -> [KnownSecret] {
        (document.object ?? [:]).flatMap { name, value -> [KnownSecret] in
            let path = "\(path) \(name)"
            guard ["value", "refresh", "secret", "token"].contains(name) else { return secrets(in: value, of: path) }
            return [value.string].compactMap(\.self).map { KnownSecret(path, $0) }
        }
    }

    private func searchProcesses(_ secrets: [KnownSecret], _ boards: [TestBoard]) async throws {
        for process in boards.compactMap(\.daemon?.processIdentifier) {
            for file in ["cmdline", "environ", "comm", "status"] {
                let bytes = Array(try Data(contentsOf: URL(filePath: "/proc/\(process)/\(file)")))
                for secret in secrets where secret.isIn(bytes) {
                    Issue.record("\(secret.name) is in \(file) of a daemon")
                }
            }
        }
    }

    private func searchFiles(_ secrets: [KnownSecret], _ board: TestBoard) throws {
        let all = try #require(FileManager.default.enumerator(at: board.state, includingPropertiesForKeys: nil))
        let files = all.compactMap { $0 as? URL }
        let names = files.map(\.lastPathComponent)
        #expect(names.contains("vault.db") && names.contains { $0.hasPrefix("outbox") }, "\(names)")
        for file in files {
            guard let bytes = try? Array(Data(contentsOf: file)) else { continue }
            for secret in secrets where secret.isIn(bytes) {
                Issue.record("\(secret.name) is in \(file.lastPathComponent)")
            }
        }
    }

    /// - Parameter held: what the daemon goes on working with.
    private func searchMemory(_ secrets: [KnownSecret], _ held: [KnownSecret], _ board: TestBoard) async throws {
        let process = try #require(board.daemon?.processIdentifier)
        #expect(try String(contentsOfFile: "/proc/\(process)/coredump_filter", encoding: .utf8).contains("00000000"))
        let needed = Set(held.flatMap(\.forms))
        // What a request has just left is gone with its connection.
        var image = try MemoryImage(of: process)
        let gone = secrets.filter { secret in !needed.contains(secret.forms[0]) && needed.isDisjoint(with: secret.forms)
        }
        let keys = held.filter { KeyReference($0.name) != nil }
        let end = ContinuousClock.now + .seconds(20)
        while (gone + keys).contains(where: { $0.count(in: image) > 0 }), ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(500))
            image = try MemoryImage(of: process)
        }
        var counts: [String: Int] = [:]
        for secret in gone + keys {
            let count = secret.count(in: image)
            counts[secret.name, default: 0] += count
            #expect(count == 0, "\(secret.name) is \(count) times in the memory of the daemon")
        }
        let found = counts.values.reduce(0, +)
        print(
            "searched \(image.count >> 10) KiB for \(gone.count + keys.count) secrets that are needed no more: \(found) found"
        )
        for secret in held where !keys.contains(where: { $0.name == secret.name }) {
            print("held: \(secret.name), \(secret.count(in: image)) times")
        }
        try await searchCore(secrets, needed, process, board)
    }

    /// gcore takes what the kernel would write if it were let.
    private func searchCore(_ secrets: [KnownSecret], _ needed: Set<[UInt8]>, _ process: pid_t, _ board: TestBoard)
        async throws
    {
        let gcore = URL(filePath: "/usr/bin/gcore")
        guard FileManager.default.isExecutableFile(atPath: gcore.path) else { return print("there is no gcore") }
        let path = board.folder.appending(path: "core").path
        func take(of process: pid_t) async throws -> URL? {
            let taking = try RunningProgram(gcore, ["-o", path, "\(process)"])
            _ = try await taking.ended(within: 60)
            let file = URL(filePath: "\(path).\(process)")
            if FileManager.default.fileExists(atPath: file.path) { return file }
            print("gcore took none: \(taking.errors.text.suffix(300))")
            return nil
        }
        guard let file = try await take(of: process) else { return }
        // A program that forbids nothing leaves its memory in one.
        let other = try RunningProgram(URL(filePath: "/bin/sleep"), ["60"])
        let control = try await take(of: other.processIdentifier)
        try await other.stop(SIGKILL)
        #expect(try MemoryImage.writableSegments(ofCore: #require(control)) > 0)
        let core = try MemoryImage(file: file)
        #expect(try MemoryImage.writableSegments(ofCore: file) == 0, "a forced core holds memory")
        // It has the registers of each thread. What the daemon works with may be in one that copied it last: 64 bytes
        // fit.
        let inRegisters = secrets.filter { secret in
            !needed.isDisjoint(with: secret.forms) && secret.count(in: core) > 0
        }
        print("core of \(core.count >> 10) KiB; in registers: \(Set(inRegisters.map(\.name)).sorted())")
        for secret in secrets where needed.isDisjoint(with: secret.forms) {
            #expect(secret.count(in: core) == 0, "\(secret.name) is in a forced core")
        }
    }

    @Test("a secret reaches no core dump, whatever the limits are", arguments: [SIGABRT, SIGSEGV])
    func noCore(signal: Int32) async throws {
        let board = try TestBoard()
        do {
            let script = "ulimit -c unlimited; cd '\(board.folder.path)'; \"$@\"; echo ended with $?"
            func shell(_ arguments: [String]) throws -> RunningProgram {
                // Without Swift's own report of a crash, whose program is not shipped.
                try RunningProgram(
                    URL(filePath: "/bin/sh"), ["-c", script, "sh"] + arguments,
                    environment: ["SWIFT_BACKTRACE": "enable=no"])
            }
            // A program that forbids nothing leaves a core here; where it does not, there is nothing to prove.
            let control = try shell(["/bin/sh", "-c", "kill -\(signal) $$"])
            _ = try await control.ended(within: 60)
            let canDump = control.errors.text.contains("core dumped")
            let parent = try shell([Self.program.url.path, "run", "--config", board.configuration.path])
            _ = try await parent.errors.line(containing: "agent: ready")
            let children = try String(
                contentsOfFile: "/proc/\(parent.processIdentifier)/task/\(parent.processIdentifier)/children",
                encoding: .utf8)
            let daemon = try #require(pid_t(children.split(separator: " ").first ?? ""))
            kill(daemon, signal)
            _ = try await parent.output.line(containing: "ended with \(128 + signal)")
            #expect(!parent.errors.text.contains("core dumped"))
            let left = try FileManager.default.contentsOfDirectory(atPath: board.folder.path)
            #expect(!left.contains { $0.hasPrefix("core.\(daemon)") })
            print("signal \(signal): a control left \(canDump ? "a" : "no") core, the daemon none")
            _ = try await parent.ended(within: 60)
        } catch {
            try? await board.tearDown()
            throw error
        }
        try await board.tearDown()
    }
}
