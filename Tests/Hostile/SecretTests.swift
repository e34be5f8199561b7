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
    static let program = Program.shipped
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
            let failure = board.withLastWords(error)
            for board in [board, other] { try? await board.tearDown() }
            await lab.stop()
            throw failure
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
        #expect(try await letting.ended() == 0)
        #expect(try await showing.ended() == 0)
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
            _ = try await control.ended()
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
            _ = try await parent.ended()
        } catch {
            try? await board.tearDown()
            throw error
        }
        try await board.tearDown()
    }
}
