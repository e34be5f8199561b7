import Bluetooth
import Groundwork
import Prompts
import TestSupport
import Testing

@testable import Proximity

/// What a desk for consent needs in a test: a clock that moves when told to, and all that it reports and records.
struct ConsentScene: Sendable {
    let clock = ManualClock()
    let prompts: PromptDesk
    let recorder = Recorder()
    let records = Log<AuditRecord>()

    init() { prompts = PromptDesk(clock: clock) }

    /// A desk that nobody watches the button for.
    func desk(_ settings: ConsentDesk.Settings = ConsentDesk.Settings()) -> ConsentDesk {
        ConsentDesk(settings: settings, prompts: prompts, clock: clock, events: recorder.events) { [records] in
            records.append($0)
        }
    }
}

/// A suite about a desk for consent, with a new scene for each of its tests.
protocol ConsentSuite {
    var scene: ConsentScene { get }
}

extension ConsentSuite {
    var clock: ManualClock { scene.clock }
    var prompts: PromptDesk { scene.prompts }
    var recorder: Recorder { scene.recorder }
    var records: Log<AuditRecord> { scene.records }

    /// A desk with a button whose edges are all told at once.
    func desk(_ change: (inout ConsentDesk.Settings) -> Void = { _ in }) -> ConsentDesk {
        var settings = ConsentDesk.Settings()
        change(&settings)
        let desk = scene.desk(settings)
        let looks = desk.lookRequests.subscribe()
        Task { [clock, weak desk] in for await _ in looks { await desk?.buttonWatched(until: clock.now) } }
        return desk
    }

    func requester(_ number: UInt8) -> Requester {
        Requester(name: "Phone \(number)", address: "\(address(number))", way: .ble)
    }

    /// Lets the patience of a question pass that is not clear to the button at first.
    func outwait() async {
        await clock.advance(by: .seconds(5))
        await clock.advance(by: .seconds(25))
    }

    func isAsked(_ id: Int) async throws {
        try await recorder.log.wait { if case .consentAsked(let request) = $0 { request.id == id } else { false } }
    }

    /// A short press of the button.
    func press(_ desk: ConsentDesk) async {
        await desk.buttonPressed(at: clock.now)
        clock.move(by: .milliseconds(100))
        await desk.buttonReleased(at: clock.now)
        await clock.advance(by: .milliseconds(400))
    }
}
