import Foundation
import Groundwork
import HTTPClient
import Testing
import Vault

@testable import Agent
@testable import AgentCore
@testable import AgentGateway

@Suite("Health checks of the doctor")
struct DoctorTests {
    static let rows =
        Row.ofAccounts + Row.ofHardware + Row.ofPasscode + Row.ofCertificates + Row.ofBoard

    @Test(
        "each health check passes, warns, fails and is skipped where it should be, and says what to do", arguments: rows
    )
    func verdict(row: Row) {
        let verdict = row.check.run(row.state)
        #expect(verdict.word == row.verdict)
        switch verdict {
        case .pass(let message), .skip(let message): #expect(message.contains(row.says))
        case .warn(let message, let remedy), .fail(let message, let remedy):
            #expect(message.contains(row.says))
            #expect(!remedy.isEmpty)
        }
    }

    private static let checks = Features.all.flatMap { $0.checks }

    @Test("every health check has a name of its own, and rows for all its verdicts")
    func complete() {
        let names = Self.checks.map { type(of: $0).name }
        #expect(Set(names).count == names.count)
        #expect(Set(Self.rows.map { type(of: $0.check).name }) == Set(names))
    }

    @Test(
        "the doctor's answer holds every check in order, and the worst verdict of all",
        arguments: [
            (true, true, "pass"), (true, false, "warn"), (false, true, "fail"),
        ])
    func answer(clock: Bool, vault: Bool, worst: String) throws {
        var state = AgentState(now: Date(timeIntervalSince1970: 0), clockIsPlausible: clock)
        state.gateway.host = "gw.example"
        state.gateway.probe = .success(200)
        state.vaultSlot = vault ? .systemdCredential : .developmentFile
        let answer = Doctor.examine(state, by: Self.checks)
        #expect(answer["worst"]?.string == worst)
        #expect(answer["checks"]?.array?.compactMap { $0["name"]?.string } == Self.checks.map { type(of: $0).name })
        let clockAnswer = try #require(answer["checks"]?.array?.first)
        #expect(clockAnswer["verdict"]?.string == (clock ? "pass" : "fail"))
        #expect((clockAnswer["remedy"] == nil) == clock)
    }
}
