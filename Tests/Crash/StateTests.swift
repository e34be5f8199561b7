import Foundation
import GatewayLab
import TestSupport
import Testing

@Suite("Killed in a named state", .timeLimit(.minutes(20)))
struct StateTests {
    /// Those of the passcode, at which `PasscodeKillTests` of the vault's own tests kills.
    private static let ofPasscode: Set<String> = [
        "passcode-counted", "passcode-opened", "passcode-reset", "passcode-wiping",
    ]

    /// Those of the counter in a TPM, at which `RollbackKillTests` kills.
    private static let ofCounter: Set<String> = [
        "counter-made", "anchor-planned", "counter-raised", "anchor-written", "counter-retired",
    ]
    /// That of values in pieces, at which `PiecesTests` kills.
    private static let ofPieces = "piece-written"

    private static let quiet = "[telemetry]\nenabled = false"

    @Test("a board killed in a named state recovers as the table says", arguments: KilledState.all)
    func recovers(_ state: KilledState) async throws {
        try await inTurn { try await run(state) }
    }

    private func run(_ state: KilledState) async throws {
        var configuration = LabConfiguration()
        configuration.givesSessionsToClients = true
        let lab = try await Lab.start(configuration)
        let board = try TestBoard(settings: Self.quiet + "\n[outbox]\nspill_milliseconds = \(state.act.spill)")
        do {
            try await check(state, Scene(lab: lab, board: board))
        } catch {
            let failure = board.withLastWords(error)
            try? await board.tearDown()
            await lab.stop()
            throw failure
        }
        try await board.tearDown()
        await lab.stop()
    }

    /// Every `killPoint` of the sources has a row, and every row one in the sources.
    @Test("the table of killed states has every state that the sources name, and no other")
    func complete() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        var named: Set<String> = []
        for case let file as URL in FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
            ?? .init()
        where file.pathExtension == "swift" {
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: /killPoint\("([a-z-]+)"\)/) {
                named.insert(String(match.1))
            }
        }
        #expect(
            named
                == Set(KilledState.all.map(\.point)).union(RewrapTests.states).union(RekeyingTests.states)
                .union(ConversionTests.states).union(OAuthAccountStateTests.states)
                .union(HardwareKeyStateTests.making).union([HardwareKeyStateTests.dropping])
                .union(SessionLockStateTests.states.map(\.name)).union(MPinStateTests.states.map(\.point))
                .union(OutboxStateTests.all.map(\.point)).union(InboxStateTests.points)
                .union(ProfileStateTests.states.map(\.name)).union(FirstBootStateTests.states.map(\.point))
                .union(ConsentStateTests.points).union([ConsentStateTests.grant])
                .union(SettingsStateTests.states.map(\.point)).union(Self.ofPasscode).union(Self.ofCounter)
                .union([Self.ofPieces]))
    }

    @Test(
        "the shipped program has no killed states, and takes no key from outside",
        .enabled(if: shipped != nil, "there is no release build"))
    func notShipped() throws {
        let program = try Data(contentsOf: URL(filePath: try #require(Self.shipped)), options: .alwaysMapped)
        for text in ["LATCHKEY_KILL_AT", "vault-commit-inside", "LATCHKEY_GIVEN_KEY"] {
            #expect(program.range(of: Data(text.utf8)) == nil, "\(text)")
        }
    }

    private static let shipped = ProcessInfo.processInfo.environment["LATCHKEY_RELEASE_BUILD"]

    // MARK: One row

    struct Scene {
        let lab: Lab
        let board: TestBoard
    }

    private func check(_ state: KilledState, _ scene: Scene) async throws {
        switch state.act {
        case .start: try await checkStart(state, scene)
        case .enroll: try await checkEnrollment(state, scene)
        case .renew, .refresh: try await checkUpkeep(state, scene)
        case .switchGateway: try await checkSwitch(state, scene)
        case .addAccount, .removeAccount: try await checkAccounts(state, scene)
        case .publish, .deliver, .hold, .spill: try await checkMessages(state, scene)
        }
    }

    private func checkStart(_ state: KilledState, _ scene: Scene) async throws {
        scene.board.environment = ["LATCHKEY_KILL_AT": state.name]
        try await expectDeath(of: try scene.board.launch(), at: state)
        try await restart(scene)
        #expect(try await scene.board.status().registration.state == "unregistered")
        _ = try await scene.board.enroll(at: scene.lab)
        try await expectWorking(scene)
        let given = scene.board.folder.appending(path: "given.key").path
        #expect(!FileManager.default.fileExists(atPath: given), "the board took the key that it was given")
    }

    private func checkEnrollment(_ state: KilledState, _ scene: Scene) async throws {
        let url = try await scene.lab.mintEnrollmentURL()
        let daemon = try await started(scene, toDieAt: state)
        let enrollment = try await scene.board.latchkey("enroll", "--json", url)
        #expect(enrollment.status != 0)
        try await expectDeath(of: daemon, at: state)
        try await restart(scene)
        if !state.isEnrolled {
            #expect(try await scene.board.status().gateway == nil)
            // It was used up by the answer that was lost; the agent says what to do.
            let again = try await scene.board.latchkey("enroll", "--json", url)
            #expect(again.errors.contains(#""code":"gateway.enrollment-refused""#), "\(again.errors)")
            _ = try await scene.board.enroll(at: scene.lab)
        }
        try await expectWorking(scene)
        expect(state.requests, at: scene.lab)
        #expect(await scene.lab.devices().count == 1)
    }

    private func checkUpkeep(_ state: KilledState, _ scene: Scene) async throws {
        let identifier = try await enrolled(scene)
        let serial = await scene.lab.devices().first?.certificateSerial
        let daemon = try await started(scene, toDieAt: state)
        _ = try await scene.board.status { $0.isConnected }
        scene.lab.resetCounts()
        let arguments = state.act == .renew ? ["renew"] : ["call", "GET", "/lab/hello"]
        // What it has of tokens has ended; the broker goes by the system's time and does not mind.
        if state.act == .refresh { scene.lab.advanceClock(by: .seconds(3601)) }
        #expect(try await Program(name: "latchkey").run(arguments + ["--socket", scene.board.socket]).status != 0)
        try await expectDeath(of: daemon, at: state)
        try await restart(scene)
        try await expectWorking(scene)
        expect(state.requests, at: scene.lab)
        if state.act == .renew {
            _ = try await scene.board.ask("renew")
            expect(state.requests.mapValues { $0 + 1 }, at: scene.lab)
            #expect(await scene.lab.devices().first?.certificateSerial != serial)
            try await expectWorking(scene)
        }
        #expect(await scene.lab.devices().map(\.magIdentifier) == [identifier])
        #expect(scene.lab.requestCounts[.clientRegistration, default: 0] == 0)
    }

    private func checkSwitch(_ state: KilledState, _ scene: Scene) async throws {
        let first = try await enrolled(scene)
        let second = try await Lab.start()
        do {
            let daemon = try await started(scene, toDieAt: state)
            #expect(try await scene.board.latchkey("enroll", try await second.mintEnrollmentURL()).status != 0)
            try await expectDeath(of: daemon, at: state)
            try await restart(scene)
            if state.isEnrolled {
                try await expectWorking(Scene(lab: second, board: scene.board))
                expect(state.requests, at: second)
                // Back at the first, what was registered there is found.
                _ = try await scene.board.enroll(at: scene.lab)
            }
            try await expectWorking(scene)
            let status = try await scene.board.status()
            #expect(status.registration.magIdentifier == first)
            #expect(await scene.lab.devices().count == 1)
        } catch {
            await second.stop()
            throw error
        }
        await second.stop()
    }

    /// The account of the first lab stays as it is, whatever happens to the one of the second.
    private func checkAccounts(_ state: KilledState, _ scene: Scene) async throws {
        let first = try await enrolled(scene)
        let second = try await Lab.start()
        do {
            func names() async throws -> [String] { try await scene.board.status().accounts?.map(\.name) ?? [] }
            func add() async throws {
                _ = try await scene.board.enroll("--account", "plant2", try await second.mintEnrollmentURL())
            }
            if state.act == .addAccount {
                let daemon = try await started(scene, toDieAt: state)
                let url = try await second.mintEnrollmentURL()
                #expect(try await scene.board.latchkey("enroll", "--account", "plant2", url).status != 0)
                try await expectDeath(of: daemon, at: state)
            } else {
                try await scene.board.start()
                try await add()
                _ = try await scene.board.ask("deregister", "--yes", "--account", "plant2")
                try await scene.board.stop()
                let daemon = try await started(scene, toDieAt: state)
                #expect(try await scene.board.latchkey("accounts", "remove", "plant2").status != 0)
                try await expectDeath(of: daemon, at: state)
            }
            try await restart(scene)
            #expect(try await names() == (state.isEnrolled ? ["gateway", "plant2"] : ["gateway"]))
            if state.act == .removeAccount || !state.isEnrolled { try await add() }
            _ = try await scene.board.status { $0.accounts?.last?.registration.state == "registered" }
            #expect(try await scene.board.latchkey("call", "--account", "plant2", "GET", "/lab/hello").status == 0)
            expect(state.requests, at: second)
            #expect(await second.devices().filter { $0.status == .active }.count == 1)
            try await expectWorking(scene)
            #expect(try await scene.board.status().registration.magIdentifier == first)
        } catch {
            await second.stop()
            throw error
        }
        await second.stop()
    }

    // MARK: Steps

    /// - Returns: the mag-identifier. The daemon has been stopped again.
    func enrolled(_ scene: Scene) async throws -> String {
        try await scene.board.start()
        let status = try await scene.board.enroll(at: scene.lab)
        _ = try await scene.board.status { $0.isConnected }
        try await scene.board.stop()
        return try #require(status.registration.magIdentifier)
    }

    func started(_ scene: Scene, toDieAt state: KilledState) async throws -> RunningProgram {
        scene.board.environment = ["LATCHKEY_KILL_AT": state.name]
        try await scene.board.start()
        return try #require(scene.board.daemon)
    }

    /// A name that nothing comes by, or that is none, shows here: the process would not have died.
    func expectDeath(of daemon: RunningProgram, at state: KilledState) async throws {
        let status = try await daemon.ended()
        #expect(status == 128 + SIGKILL)
        #expect(daemon.errors.lines.contains("killed at \(state.point)"), "\(daemon.errors.lines.suffix(5))")
    }

    func restart(_ scene: Scene) async throws {
        scene.board.environment = [:]
        try await scene.board.start()
        let files = try FileManager.default.contentsOfDirectory(atPath: scene.board.state.path)
        #expect(
            files.allSatisfy { !$0.contains(".damaged-") && !$0.hasSuffix(".new") }, "\(files)"
        )
    }

    private func expect(_ requests: [Endpoint: Int], at lab: Lab) {
        for (endpoint, count) in requests { #expect(lab.requestCounts[endpoint, default: 0] == count, "\(endpoint)") }
    }

    /// Registered with a key it holds, connected, a vault without fault, and a message that arrives.
    func expectWorking(_ scene: Scene) async throws {
        _ = try await scene.board.status {
            $0.isConnected && $0.registration.state == "registered"
        }
        #expect(try await scene.board.latchkey("call", "GET", "/lab/hello").status == 0)
        _ = try await scene.board.ask("publish", "counter", "after")
        let status = try await scene.board.status { $0.outbox?.depth == 0 }
        #expect(status.outbox?.dropped == 0)
        #expect(
            scene.lab.messages.contains { $0.topic.hasSuffix("/custom/counter") && $0.payload == Array("after".utf8) })
    }
}
