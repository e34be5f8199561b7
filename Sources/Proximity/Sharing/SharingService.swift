import Bluetooth
import Groundwork

/// Offers this device's user session to nearby devices, over Bluetooth (MAG 8.5).
public actor SharingService {
    private let transport: any BluetoothTransport
    private let authorizer: SessionAuthorizer
    private let settings: SharingSettings
    private let clock: any ProximityClock
    private let events: Broadcast<ProximityEvent>

    private var machine: SharingMachine
    private var actions: AsyncStream<SharingMachine.Action>.Continuation?
    private var asking: [Int: Task<ConsentAnswer, Never>] = [:]
    private var isRunning = false
    /// Whether it was ended before advertising began.
    private var isUnwanted = false

    public init(
        transport: any BluetoothTransport, gateway: any ProximityGateway, desk: ConsentDesk, settings: SharingSettings,
        clock: any ProximityClock = SystemClock(), events: Broadcast<ProximityEvent>
    ) {
        self.transport = transport
        self.settings = settings
        self.clock = clock
        self.events = events
        authorizer = SessionAuthorizer(gateway: gateway, desk: desk, events: events)
        machine = SharingMachine { _ in false }
    }

    /// Shares until the term is over, ``stop()``, a double press, or until the task is canceled.
    ///
    /// Adapter and radio may come and go meanwhile; only a first start that fails is an error.
    ///
    /// - Throws: ``ProximityError``, without a user session ``ProximityError/noUserSession(reason:)``
    public func run(_ term: SharingTerm) async throws(ProximityError) -> SharingEnd {
        guard !isRunning else { throw .sharingInProgress }
        isRunning = true
        isUnwanted = false
        defer { isRunning = false }
        try await authorizer.requireSession()
        let gateway = authorizer.gateway
        machine = SharingMachine(limits: settings.limits, endsAfterOne: term == .once) { url in
            (try? gateway.checkOrigin(url)) != nil
        }
        // Subscribe before the first request can come, so that no double press is lost.
        let deskEvents = events.subscribe()
        let end = await attend(try await serve(), deskEvents, until: deadline(of: term))
        events.send(.sharingStopped(end))
        return end
    }

    /// Ends sharing, if any.
    public func stop() {
        // While the radio starts, the machine's actions are not performed yet.
        guard actions != nil else {
            isUnwanted = true
            return
        }
        take { $0.end(.requested, now: $1) }
    }

    private func deadline(of term: SharingTerm) -> Duration? {
        if case .lasting(let duration) = term { clock.now + duration } else { nil }
    }

    private func serve() async throws(ProximityError) -> any Peripheral {
        do throws(BluetoothError) {
            return try await transport.serve(
                settings.localService,
                advertising: Advertisement(service: settings.service, localName: settings.localName))
        } catch {
            let status = await transport.status()
            throw ProximityError(error) {
                status.canAdvertise ? .advertisingFailed(reason: $0) : .peripheralNotSupported(reason: $0)
            }
        }
    }

    /// Serves until something ends it. Performs the machine's actions concurrently, so that no central waits for
    /// another one's answer.
    private func attend(
        _ first: any Peripheral, _ deskEvents: AsyncStream<ProximityEvent>, until deadline: Duration?
    ) async -> SharingEnd {
        let (wanted, continuation) = AsyncStream.makeStream(of: SharingMachine.Action.self)
        actions = continuation
        defer { actions = nil }
        if isUnwanted { stop() }
        let end = await withDiscardingTaskGroup { group in
            let air = Air(first)
            group.addTask { await self.listen(on: air) }
            group.addTask {
                for await event in deskEvents {
                    if case .sharingEndRequested = event { await self.stop() }
                }
            }
            if let deadline {
                group.addTask {
                    guard (try? await self.clock.sleep(until: deadline)) != nil else { return }
                    await self.take { $0.end(.expired, now: $1) }
                }
            }
            var end = SharingEnd.cancelled
            for await action in wanted {
                if case .finish(let reason) = action {
                    end = reason
                    break
                }
                perform(action, on: air, in: &group)
            }
            group.cancelAll()
            await air.stop()
            return end
        }
        // An answer that was on its way at the end is reported too.
        continuation.finish()
        for await case .report(let event) in wanted { events.send(event) }
        return end
    }

    private func perform(_ action: SharingMachine.Action, on air: Air, in group: inout DiscardingTaskGroup) {
        switch action {
        case .report(let event):
            events.send(event)
            // A person who sees the light for another request may mean the requester who was turned away.
            if case .requestRefused(_, .requestRefused(.tooMany)) = event {
                group.addTask { await self.authorizer.desk.noteTurnedAway() }
            }
        case .wake(let time):
            group.addTask {
                if (try? await self.clock.sleep(until: time)) != nil { await self.take { $0.expire(now: $1) } }
            }
        case .consider(let ticket):
            group.addTask {
                let verdict = await self.consider(ticket)
                if verdict == .authorized { await air.keep(ticket.central) }
                await self.take { $0.considered(ticket, verdict, now: $1) }
            }
        case .abandon(let ticket): asking[ticket.id]?.cancel()
        case .notify(let central, let requester, let answer, let hangUp):
            group.addTask {
                // Only an authorized device may cause others to be disconnected; a stranger must not disconnect
                // centrals that wait for consent.
                let failure = await air.notify(answer, to: central, self.settings.characteristic) {
                    answer == .authorized ? [] : await self.waiting
                }
                let others = await self.waiting
                if hangUp || failure != nil && answer != .authorized && !others.isEmpty { await air.hangUp(central) }
                await self.take { machine, _ in machine.notified(central, requester, answer, failure: failure) }
            }
        case .hangUp(let central): group.addTask { await air.hangUp(central) }
        case .finish: break
        }
    }

    /// The centrals whose requests are under consideration.
    private var waiting: Set<CentralID> { machine.waiting }

    private func take(_ step: @Sendable (inout SharingMachine, Duration) -> [SharingMachine.Action]) {
        for action in step(&machine, clock.now) { actions?.yield(action) }
    }

    /// Passes the radio's events to the machine, and serves again after the radio has failed.
    private func listen(on air: Air) async {
        var backoff = Backoff(cap: .seconds(60))
        while !Task.isCancelled {
            for await event in await air.peripheral.events {
                if case .started = event { backoff.reset() }
                take { $0.receive(event, now: $1) }
            }
            guard !Task.isCancelled else { return }
            take { machine, _ in machine.radioFailed() }
            events.send(.sharingInterrupted(reason: "the Bluetooth service ended"))
            while (try? await clock.sleep(until: clock.now + backoff.next())) != nil {
                do throws(ProximityError) {
                    await air.replace(by: try await serve())
                    break
                } catch {
                    events.send(.sharingInterrupted(reason: error.message))
                }
            }
        }
    }

    private func consider(_ ticket: SharingMachine.Ticket) async -> SharingMachine.Verdict {
        do throws(ProximityError) {
            let decision = try await authorizer.consider(ticket.url) { session, user throws(ProximityError) in
                try await self.ask(ticket, about: session, inNameOf: user)
            }
            return decision.isGranted ? .authorized : .declined(decision)
        } catch {
            return .failed(error)
        }
    }

    /// - Throws: ``ProximityError/centralUnsubscribed(central:)`` if the requester has left.
    private func ask(
        _ ticket: SharingMachine.Ticket, about session: String, inNameOf user: String?
    ) async throws(ProximityError) -> ConsentAnswer {
        guard machine.isWanted(ticket) else { throw .centralUnsubscribed(central: "\(ticket.central)") }
        let task = Task { [desk = authorizer.desk] in await desk.ask(ticket.requester, about: session, inNameOf: user) }
        asking[ticket.id] = task
        let answer = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        asking[ticket.id] = nil
        return answer
    }
}

/// The current peripheral, which is replaced by a new one after it fails.
private actor Air {
    private(set) var peripheral: any Peripheral
    private var isStopped = false

    init(_ peripheral: any Peripheral) { self.peripheral = peripheral }

    func replace(by next: any Peripheral) async {
        let former = peripheral
        peripheral = next
        await former.stop()
        // Sharing ended while this one started.
        if isStopped { await next.stop() }
    }

    /// - Returns: why the central has not received the answer.
    func notify(
        _ answer: SharingAnswer, to central: CentralID, _ characteristic: BluetoothUUID,
        sparing: @escaping @Sendable () async -> Set<CentralID>
    ) async -> ProximityError? {
        do throws(BluetoothError) {
            try await peripheral.notify(answer.bytes, to: central, characteristic: characteristic, sparing: sparing)
            return nil
        } catch {
            return .centralUnsubscribed(central: "\(central)")
        }
    }

    func keep(_ central: CentralID) async { await peripheral.keep(central) }

    func hangUp(_ central: CentralID) async { await peripheral.disconnect(central) }

    func stop() async {
        isStopped = true
        await peripheral.stop()
    }
}
