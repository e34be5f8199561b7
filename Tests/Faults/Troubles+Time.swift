import Foundation
import GatewayLab
import Glibc
import TestSupport

/// Clocks, and a process that stands still.
extension Trouble {
    private static let day = 86_400

    static let time: [Trouble] = [
        Trouble(name: "the board starts in 1970, and its clock is corrected by years") { scene in
            try await scene.cutPower()
            try scene.clock.setToBeginning()
            try await scene.board.start()
            try await scene.hasOutbox()
        } seen: { scene in
            // By the newest time it knows it judges certificates well enough to go on.
            try await scene.drained()
            try await scene.says(wrongClock: true)
            try await scene.doctorFails("clock")
        } end: { scene in
            try scene.clock.set(0)
            try await scene.says(wrongClock: false)
        },
        Trouble(name: "the clock jumps back by three days") { scene in
            try scene.clock.set(-3 * day)
            scene.broker.cut()
        } seen: { scene in
            try await scene.drained()
            try await scene.says(wrongClock: true)
            try await scene.doctorFails("clock")
        } end: { scene in
            try scene.clock.set(0)
            try await scene.says(wrongClock: false)
        },
        Trouble(
            name: "the clock was years ahead for a while, beyond every certificate", identity: .sameDevice
        ) { scene in
            guard try await scene.call().status == 0 else { throw Unexpected("the gateway was not reached") }
            try scene.clock.set(3 * 365 * day)
            // The connection to the gateway stands, and what comes over it proves nothing about this time.
            try await scene.lab.revokeTokens()
            _ = try await scene.call()
            scene.broker.cut()
        } seen: { scene in
            try await scene.disconnected(because: "messaging.tls-refused", "messaging.credentials-unavailable")
            try await scene.doctorFails("pin")
        } end: { scene in
            try scene.clock.set(0)
        },
        Trouble(
            name: "the clock was a year ahead for a while, beyond the gateway's certificate and not the board's",
            lives: .with { $0.deviceCertificate = 3 * 365 * day }
        ) { scene in
            guard try await scene.call().status == 0 else { throw Unexpected("the gateway was not reached") }
            try scene.clock.set(400 * day)
            // What comes over the connection that stands would be taken for proof of this time.
            try await scene.lab.revokeTokens()
            _ = try await scene.call()
            scene.broker.cut()
        } seen: { scene in
            try await scene.disconnected(because: "messaging.tls-refused", "messaging.credentials-unavailable")
            try await scene.doctorFails("pin")
        } end: { scene in
            try scene.clock.set(0)
        },
        Trouble(name: "the clock was months ahead, and connections were made by it") { scene in
            try scene.clock.set(100 * day)
            try await scene.connectsAnew()
            try scene.clock.set(0)
        } seen: { scene in
            // It cannot know which of the two times is true: it goes on by the later one, and a person is told.
            try await scene.connectsAnew()
            try await scene.says(wrongClock: true)
            let (verdict, remedy) = try await scene.doctor("clock")
            guard verdict == "fail", remedy.contains(scene.board.state.path + "/clock") else {
                throw Unexpected(remedy)
            }
        } end: { scene in
            try await scene.cutPower()
            try FileManager.default.removeItem(at: scene.board.state.appending(path: "clock"))
            try await scene.board.start()
            try await scene.says(wrongClock: false)
        },
        Trouble(
            name: "the process is suspended for an hour", settings: "[broker]\nkeep_alive_seconds = 5",
            takesReadings: false
        ) { scene in
            guard let process = scene.board.daemon?.processIdentifier else {
                throw Unexpected("the daemon does not run")
            }
            kill(process, SIGSTOP)
            try scene.clock.set(3600)
            scene.lab.advanceClock(by: .seconds(3601))
            // The broker gives up on it after one and a half times the keep-alive.
            let end = ContinuousClock.now + .seconds(180)
            while await !scene.lab.brokerSessions.isEmpty {
                guard ContinuousClock.now < end else { throw Unexpected("the broker keeps the session") }
                try await Task.sleep(for: .milliseconds(200))
            }
            kill(process, SIGCONT)
        } seen: { scene in
            try await scene.publish(20)
            try await scene.drained()
        } end: { _ in
        },
    ]
}

extension Scene {
    /// Waits until the agent warns of its clock, or does no more.
    fileprivate func says(wrongClock isWrong: Bool) async throws {
        try await status { status in
            (status.warnings ?? []).contains { $0.contains("the clock is wrong") } == isWrong
        }
    }
}
