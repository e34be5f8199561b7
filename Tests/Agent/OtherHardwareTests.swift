import Board
import Cryptography
import Foundation
import Gateway
import Groundwork
import HTTPClient
import Logging
import TestSupport
import Testing
import Vault

@testable import Agent
@testable import AgentCore

@Suite("An identity on other hardware", .timeLimit(.minutes(5)))
struct OtherHardwareTests {
    /// An agent over the state of one card, on a board with this serial number.
    private func withBoard(
        _ serial: String?, card folder: String, _ body: (Agent) async throws -> Void
    ) async throws {
        let root = folder + "/machine-\(serial ?? "none")"
        let tree = root + "/sys/firmware/devicetree/base"
        try FileManager.default.createDirectory(atPath: tree, withIntermediateDirectories: true)
        if let serial { try Data((serial + "\0").utf8).write(to: URL(filePath: tree + "/serial-number")) }
        var configuration = AgentConfiguration()
        configuration.stateDirectory = folder
        configuration.board = BoardSettings(definition: "absent", directories: [folder])
        let vault = try await Vault.open(
            at: folder + "/vault.db", with: [DevelopmentKeyFile(folder + "/vault.key")], creating: true)
        let time = BestKnownTime(path: folder + "/clock")
        let agent = Agent(
            configuration: configuration, vault: vault, client: HTTPClient(),
            time: time, board: BoardParts(configuration.board, time: time, machine: Machine(root: root)),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try await body(agent)
        await agent.end()
    }

    private func fault(of agent: Agent) async throws -> VaultError? {
        do {
            try await agent.hardware.checkHardware()
            return nil
        } catch let error as VaultError {
            return error
        }
    }

    @Test("a board knows itself again, and a copy of its card is refused on another board until a person decides")
    func copied() async throws {
        try await withFolder { folder in
            for _ in 0..<2 {
                try await withBoard("100000001", card: folder) { agent in
                    let fault = try await fault(of: agent)
                    #expect(fault == nil)
                    await #expect(throws: HardwareError.ownIdentity) { try await agent.hardware.adoptIdentity() }
                }
            }
            try await withBoard("200000002", card: folder) { agent in
                let other = VaultError.otherBoard(path: agent.host.vault.path, known: "100000001", found: "200000002")
                #expect(try await fault(of: agent) == other)
                agent.host.vaultFault = other
                let remedy = try #require(
                    try await agent.host.diagnosis()["checks"]?.array?.first { $0["name"] == "vault" })
                #expect(remedy["remedy"]?.string?.contains("latchkey identity adopt") == true)
                try await agent.hardware.adoptIdentity()
                agent.host.vaultFault = nil
                #expect(try await fault(of: agent) == nil)
            }
            // The first one has been replaced.
            try await withBoard("100000001", card: folder) { agent in
                let former = try await fault(of: agent)
                #expect(former != nil)
            }
        }
    }

    @Test("what was copied is gone once it is discarded, and the copy is a board of its own")
    func discarded() async throws {
        try await withFolder { folder in
            let name = RecordName(scope: "gw.example:8443", name: "token")
            try await withBoard("1", card: folder) { agent in
                #expect(try await fault(of: agent) == nil)
                try await agent.host.vault.commit([.put(name, .token, SecretBytes(utf8: "secret"))])
                try Data().write(to: URL(filePath: folder + "/outbox-gw.db"))
                try Data().write(to: URL(filePath: folder + "/inbox-gw.db"))
            }
            try await withBoard("2", card: folder) { agent in
                agent.host.vaultFault = try await fault(of: agent)
                try await agent.hardware.discardIdentity()
                agent.host.vaultFault = nil
                #expect(try await fault(of: agent) == nil)
                #expect(try await agent.host.vault.record(name) == nil)
                let left = try FileManager.default.contentsOfDirectory(atPath: folder)
                #expect(!left.contains { $0.hasPrefix("outbox-") || $0.hasPrefix("inbox-") })
            }
        }
    }

    @Test("boards without a serial number are not told apart", arguments: [nil, "0000000000000000", ""])
    func untold(serial: String?) async throws {
        try await withFolder { folder in
            for number in ["1", serial] {
                try await withBoard(number, card: folder) { agent in
                    let fault = try await fault(of: agent)
                    #expect(fault == nil)
                }
            }
        }
    }
}
