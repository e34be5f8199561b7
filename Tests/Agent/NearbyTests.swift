import Bluetooth
import Foundation
import Groundwork
import Prompts
import Proximity
import Synchronization
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentNearby

@Suite("Sharing with devices nearby", .timeLimit(.minutes(8)))
struct NearbySharingTests {
    @Test("Bluetooth begins when somebody first needs it, once, and ends with the agent")
    func radio() async throws {
        try await withVicinity { vicinity in
            #expect(vicinity.radios.entries == [])
            async let first = vicinity.nearby.adapter()
            async let second = vicinity.nearby.adapter()
            #expect(await [first, second].allSatisfy { $0.adapter == "hci0" && $0.canAdvertise })
            #expect(vicinity.radios.entries == [true])
            #expect(vicinity.radio.closed.entries == [])
            await vicinity.nearby.close()
            #expect(vicinity.radio.closed.entries == [true])
        }
        try await withVicinity { vicinity in
            await vicinity.nearby.close()
            #expect(vicinity.radios.entries == [], "a board that never needed it")
        }
    }

    @Test("sharing begins when the radio says so, as gateway and settings want, and ends with whoever ends it")
    func life() async throws {
        try await withVicinity {
            $0.proximity.requireEncryption = true
        } _: { vicinity in
            var ends = vicinity.nearby.sharing.ends.subscribe().makeAsyncIterator()
            #expect(await vicinity.report("sharing") == false)
            let (sharing, peripheral) = try await vicinity.beginSharing(.lasting(.seconds(600)))
            #expect(await vicinity.report("sharing") == true)
            #expect(await vicinity.report("onAir") == false)
            peripheral.feed.yield(.started)
            try await sharing.value
            #expect(await vicinity.report("onAir") == true)
            #expect(await vicinity.report("term") == "lasting")
            #expect(peripheral.advertisement == Advertisement(service: service, localName: "bench"))
            #expect(peripheral.service.uuid == service)
            #expect(peripheral.service.characteristics.map(\.uuid) == [characteristic])
            #expect(peripheral.service.characteristics.map(\.requiresEncryption) == [true])

            await vicinity.nearby.stopSharing(by: .user("root"))
            #expect(peripheral.acts.entries == [.stopped])
            #expect(await vicinity.report("sharing") == false)
            #expect(await vicinity.report("term") == nil)
            #expect(await ends.next() == .requested)
            try await vicinity.recorder.log.wait(for: .sharingStopped(.requested))
            #expect(vicinity.recorder.names == ["sharing-started", "sharing-end-requested", "sharing-stopped"])
            #expect(vicinity.recorder.log.entries[1] == .sharingEndRequested(by: .user("root")))
        }
    }

    @Test("sharing may begin again as soon as its end is reported")
    func again() async throws {
        try await withVicinity { vicinity in
            var ends = vicinity.nearby.sharing.ends.subscribe().makeAsyncIterator()
            _ = try await vicinity.share()
            async let stopped: Void = vicinity.nearby.stopSharing(by: .agent)
            #expect(await ends.next() == .requested)
            let (sharing, next) = try await vicinity.beginSharing(as: 2)
            next.feed.yield(.started)
            try await sharing.value
            await stopped
            #expect(await vicinity.report("onAir") == true)
        }
    }

    @Test("sharing ends by itself when its time is over, and reports so")
    func term() async throws {
        try await withVicinity { vicinity in
            var ends = vicinity.nearby.sharing.ends.subscribe().makeAsyncIterator()
            let (sharing, peripheral) = try await vicinity.beginSharing(.lasting(.milliseconds(100)))
            #expect(await ends.next() == .expired)
            #expect(await !vicinity.nearby.isSharing)
            #expect(peripheral.acts.entries == [.stopped])
            _ = await sharing.result
        }
    }

    @Test("sharing goes on once at a time")
    func once() async throws {
        try await withVicinity { vicinity in
            let peripheral = try await vicinity.share()
            await #expect(throws: ProximityError.sharingInProgress) {
                try await vicinity.nearby.sharing.begin(.once, of: vicinity.session)
            }
            #expect(await vicinity.report("term") == "endless")
            #expect(await vicinity.report("onAir") == true)
            #expect(peripheral.acts.entries == [])
            #expect(vicinity.radio.served.entries.count == 1)
        }
    }

    @Test("sharing needs a logged-in user before Bluetooth, and a gateway that names its service")
    func needs() async throws {
        try await withVicinity(isLoggedIn: false) { vicinity in
            let (nearby, session) = (vicinity.nearby, vicinity.session)
            let error = await #expect(throws: ProximityError.self) {
                try await nearby.sharing.begin(.endless, of: session)
            }
            #expect(error?.code == "proximity.no-user-session")
            #expect(vicinity.radios.entries == [])
        }
        try await withVicinity(document: { $0["mag"] = ["mobile_sdk": ["trusted_public_pki": true]] }) { vicinity in
            let (nearby, session) = (vicinity.nearby, vicinity.session)
            await #expect(throws: AgentError.noProximityService) {
                try await nearby.sharing.begin(.endless, of: session)
            }
            await #expect(throws: AgentError.noProximityService) { try await nearby.logIn.byBluetooth(at: session) }
            #expect(vicinity.radio.served.entries.isEmpty)
            #expect(await !nearby.isSharing)
        }
    }

    @Test("sharing fails when the radio fails at once, which is no end of sharing, and may be retried")
    func failure() async throws {
        try await withVicinity { vicinity in
            var ends = vicinity.nearby.sharing.ends.subscribe().makeAsyncIterator()
            let fault = BluetoothError.noAdapter(name: "hci0")
            vicinity.radio.script.withLock { $0.serveFailures = [fault] }
            await #expect(throws: ProximityError.notSupported(reason: fault.message)) {
                try await vicinity.nearby.sharing.begin(.endless, of: vicinity.session)
            }
            #expect(await !vicinity.nearby.isSharing)
            _ = try await vicinity.share()
            await vicinity.nearby.close()
            #expect(await ends.next() == .requested)
            #expect(await ends.next() == nil)
        }
    }

    @Test("sharing waits some seconds for a blocked adapter, then reports it and is over")
    func blocked() async throws {
        let fault = BluetoothError.blocked(adapter: "hci0", hard: false)
        try await withVicinity(patience: .init(adapter: .milliseconds(50))) { vicinity in
            let (sharing, peripheral) = try await vicinity.beginSharing(.once)
            peripheral.feed.yield(.interrupted(fault))
            await #expect(throws: ProximityError.interrupted(reason: fault.message)) { try await sharing.value }
            #expect(await !vicinity.nearby.isSharing)
            #expect(peripheral.acts.entries == [.stopped])
        }
        try await withVicinity { vicinity in
            let (sharing, peripheral) = try await vicinity.beginSharing(.once)
            peripheral.feed.yield(.interrupted(fault))
            peripheral.feed.yield(.started)
            try await sharing.value
            #expect(await vicinity.report("onAir") == true)
        }
    }

    @Test("sharing for good waits for its adapter as long as needed, and says whether it is on the air")
    func endless() async throws {
        try await withVicinity(patience: .init(adapter: .milliseconds(50))) { vicinity in
            let (sharing, peripheral) = try await vicinity.beginSharing()
            peripheral.feed.yield(.interrupted(.blocked(adapter: "hci0", hard: true)))
            try await sharing.value
            #expect(await vicinity.report("sharing") == true)
            #expect(await vicinity.report("onAir") == false)
            for (event, isOnAir) in [
                (PeripheralEvent.started, true), (.interrupted(.stopped), false), (.started, true),
            ] {
                peripheral.feed.yield(event)
                await vicinity.nearby.sharing.onAir.wait { $0 == isOnAir ? () : nil }
                #expect(await vicinity.report("onAir") == .bool(isOnAir))
            }
            #expect(peripheral.acts.entries == [])
        }
    }

    @Test("sharing ends with a caller who went before it was on the air")
    func cancelled() async throws {
        try await withVicinity { vicinity in
            let (sharing, peripheral) = try await vicinity.beginSharing()
            sharing.cancel()
            await #expect(throws: CancellationError.self) { try await sharing.value }
            #expect(await !vicinity.nearby.isSharing)
            #expect(peripheral.acts.entries == [.stopped])
        }
    }

    @Test("sharing that somebody else ended before it was on the air fails for its caller")
    func overruled() async throws {
        try await withVicinity { vicinity in
            let (sharing, peripheral) = try await vicinity.beginSharing()
            await vicinity.nearby.stopSharing(by: .button)
            let error = await #expect(throws: ProximityError.self) { try await sharing.value }
            #expect(error?.code == "proximity.advertising-failed")
            #expect(peripheral.acts.entries == [.stopped])
        }
    }

    @Test("sharing ends even when the radio does not answer any more")
    func deafRadio() async throws {
        try await withVicinity(patience: .init(farewell: .milliseconds(50))) { vicinity in
            vicinity.radio.script.withLock { $0.serveHangs = true }
            let sharing = Task { try await vicinity.nearby.sharing.begin(.endless, of: vicinity.session) }
            try await vicinity.radio.hanging.wait(for: true)
            await vicinity.nearby.stopSharing(by: .user("root"))
            #expect(await !vicinity.nearby.isSharing)
            await #expect(throws: ProximityError.self) { try await sharing.value }
        }
    }
}
