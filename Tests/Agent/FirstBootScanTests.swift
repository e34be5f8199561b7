import Connectivity
import Foundation
import Gateway
import Groundwork
import HTTPClient
import Synchronization
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentFirstBoot
@testable import AgentGateway

@Suite("Codes shown to a board that is not enrolled", .timeLimit(.minutes(5)))
struct FirstBootScanTests {
    /// An enrollment URL, and what its gateway answers.
    private struct Code {
        let text: String
        let configuration: GatewayConfiguration

        /// - Parameter port: at which nobody listens.
        init(_ port: Int) throws {
            text = EnrollmentContentTests.line.replacing("gw.example:8443", with: "localhost:\(port)")
            configuration = try gateway {
                $0["server"] = ["hostname": "localhost", "port": port, "prefix": ""] as [String: Any]
            }
        }

        var content: [UInt8] { Array(text.utf8) }
        var url: String { configuration.identity.baseURL }
    }

    /// The gateways of two codes, which answer as the test says.
    private final class TwoGateways: Sendable {
        let codes: [Code]
        /// The URLs of those that were asked.
        let asked = Log<String>()
        /// Passed before an answer.
        let gate = Gate(isOpen: true)
        private let unreachable = Mutex<Set<String>>([])

        init() throws { codes = [try Code(try UnusedPort.reserve()), try Code(try UnusedPort.reserve())] }

        func setReachable(_ code: Code, _ isReachable: Bool) {
            unreachable.withLock { $0 = isReachable ? $0.subtracting([code.url]) : $0.union([code.url]) }
        }

        func answer(_ content: EnrollmentContent) async throws -> GatewayConfiguration {
            guard case .url(let enrollment) = content,
                let code = codes.first(where: { enrollment.isLikely(of: $0.configuration.identity) })
            else { throw Unexpected("asked for another enrollment") }
            asked.append(code.url)
            await gate.pass()
            guard !unreachable.withLock({ $0.contains(code.url) }) else {
                throw GatewayError.noAnswer(.fetchConfiguration, .cannotResolve(host: "localhost"))
            }
            return code.configuration
        }
    }

    private func firstBoot(_ agent: Agent, _ gateways: TwoGateways) -> FirstBootService {
        FirstBootService(boot: agent.boot, credentials: nil) { try await gateways.answer($0) }
    }

    /// Returns when the agent has reported an event since the last one that was waited for.
    private func wait(for name: String, in events: AsyncStream<AgentEvent>) async {
        for await event in events where event.name == name { return }
    }

    @Test("a product's barcode is refused, and does not end the attempt of a good code that waits for the network")
    func strayCode() async throws {
        let gateways = try TwoGateways()
        let code = gateways.codes[0]
        try await withAgent { agent, _ in
            let (codes, events, service) = (ScannedCodes(), agent.host.events.subscribe(), firstBoot(agent, gateways))
            gateways.setReachable(code, false)
            async let taken = service.takeOne(of: codes)
            service.receive(code.text, into: codes)
            await wait(for: "enrollment.did-fail", in: events)
            service.receive("4006381333931", into: codes)
            await wait(for: "enrollment.refused", in: events)
            #expect(agent.boot.progress.now?.stage == .trying)
            gateways.setReachable(code, true)
            agent.host.network.monitor.endPauses()
            let end = await taken
            #expect(end?.content == code.content)
            let isEnrolled = try await agent.gateways.isEnrolled()
            #expect(isEnrolled)
            #expect(agent.boot.progress.now?.stage == .taken)
        }
    }

    @Test("a code is not given up for another one while its gateway answers, as its URL works only once")
    func codeInUse() async throws {
        let gateways = try TwoGateways()
        let (code, other) = (gateways.codes[0], gateways.codes[1])
        try await withAgent { agent, _ in
            let (codes, service) = (ScannedCodes(), firstBoot(agent, gateways))
            gateways.gate.close()
            async let taken = service.takeOne(of: codes)
            service.receive(code.text, into: codes)
            try await gateways.asked.wait(for: code.url)
            service.receive(other.text, into: codes)
            // Scanners read a code again while it is before them.
            service.receive(code.text, into: codes)
            gateways.gate.open()
            let end = await taken
            #expect(end?.content == code.content)
            #expect(gateways.asked.entries == [code.url])
            #expect(try await agent.gateways.store.accounts().values.map(\.baseURL) == [code.url])
        }
    }

    @Test("a code whose gateway does not answer is replaced by the next one, at once or while it waits")
    func replacedCode() async throws {
        for isAsked in [true, false] {
            let gateways = try TwoGateways()
            let (code, other) = (gateways.codes[0], gateways.codes[1])
            try await withAgent { agent, _ in
                let (codes, events, service) = (
                    ScannedCodes(), agent.host.events.subscribe(), firstBoot(agent, gateways)
                )
                gateways.setReachable(code, false)
                if isAsked { gateways.gate.close() }
                async let taken = service.takeOne(of: codes)
                service.receive(code.text, into: codes)
                if isAsked {
                    try await gateways.asked.wait(for: code.url)
                } else {
                    await wait(for: "enrollment.did-fail", in: events)
                }
                service.receive(other.text, into: codes)
                gateways.gate.open()
                let end = await taken
                #expect(end?.content == other.content)
                if isAsked { #expect(gateways.asked.entries == [code.url, other.url]) }
            }
        }
    }

    @Test("what is being tried is shown although something else was refused, and no longer when one was taken")
    func shownProgress() {
        let state = FirstBootState { _ in }
        func show(_ stage: FirstBootProgress.Stage, _ place: String) -> FirstBootProgress {
            FirstBootProgress(stage: stage, place: place)
        }
        state.note(show(.scanning, "scanner"))
        #expect(state.now == show(.scanning, "scanner"))
        state.attempt(show(.trying, "file"))
        state.attempt(show(.trying, "code"))
        state.note(show(.refused, "stray"))
        #expect(state.now == show(.trying, "code"))
        state.settle(show(.refused, "code"))
        #expect(state.now == show(.trying, "file"))
        state.endAttempt(for: "file")
        #expect(state.now == show(.refused, "code"))
        state.attempt(show(.trying, "file"))
        state.settle(show(.taken, "code"))
        #expect(state.now == show(.taken, "code"))
    }
}

@Suite("A wipe that power loss ended", .timeLimit(.minutes(5)))
struct FirstBootWipeTests {
    @Test("an enrolled board wipes what an interrupted wipe left of a file, as of an enrollment that was taken")
    func endsWipe() async throws {
        for content in FirstBootHelperTests.partsOfAWipe {
            try await withFolder { folder in
                let file = "\(folder)/enroll.url"
                try Data(content).write(to: URL(filePath: file))
                try await withAgent({
                    ($0[FirstBootSettings.self].file, $0[FirstBootSettings.self].helper) = (file, "")
                }) { agent, _ in
                    try await agent.gateways.store.activate(try gateway { _ in }, registers: false)
                    try await FirstBootService(boot: agent.boot, credentials: nil).run()
                    #expect(agent.boot.progress.now == FirstBootProgress(stage: .taken, place: file))
                }
                #expect(!FileManager.default.fileExists(atPath: file))
            }
        }
    }
}
