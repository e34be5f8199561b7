import Bluetooth
import Groundwork

/// The device that shares its session, without radio, clock and people: what happened in, what to do out (MAG 8.5).
struct SharingMachine {
    /// A request that is worth asking for.
    struct Ticket: Equatable {
        let id: Int
        let central: CentralID
        let requester: Requester
        let url: String
    }

    enum Action: Equatable {
        case report(ProximityEvent)
        /// Ask for consent, then the gateway; then call ``considered(_:_:now:)``.
        case consider(Ticket)
        /// Its requester left: stop asking.
        case abandon(Ticket)
        /// Notify, then hang up if told so; then call ``notified(_:_:_:failure:now:)``.
        case notify(CentralID, Requester, SharingAnswer, hangUp: Bool)
        case hangUp(CentralID)
        /// Call ``expire(now:)`` then.
        case wake(at: Duration)
        case finish(SharingEnd)
    }

    /// What came of considering a request.
    enum Verdict: Equatable {
        case authorized
        case declined(ConsentDecision)
        case failed(ProximityError)
    }

    private struct Peer {
        enum Stage { case open, considering, leaving }
        var stage = Stage.open
        var collector: RequestCollector
        var deadline: Duration?
        var requests = 0
        /// Bytes and writes that came while a request is considered.
        var excess = 0
    }

    private let limits: SharingLimits
    private let endsAfterOne: Bool
    private let isOwn: @Sendable (String) -> Bool
    private var peers: [CentralID: Peer] = [:]
    private var tickets: [Int: Ticket] = [:]
    private var lastTicket = 0
    private var rate: RequestRate
    private var alarm: Duration?
    /// With which sharing ends.
    private var lastCentral: CentralID?
    /// Sharing ends when everybody has an answer, or then.
    private var ending: (reason: SharingEnd, deadline: Duration)?
    /// Answers under way.
    private var unsent = 0

    /// - Parameter isOwn: whether a URL is one of this device's gateway.
    init(
        limits: SharingLimits = SharingLimits(), endsAfterOne: Bool = false, isOwn: @escaping @Sendable (String) -> Bool
    ) {
        self.limits = limits
        self.endsAfterOne = endsAfterOne
        self.isOwn = isOwn
        rate = RequestRate(perMinute: limits.requestsPerMinute)
    }

    /// How many centrals are connected, as far as is known here.
    var centralCount: Int { peers.count }
    /// Those that wait for consent, or for the gateway.
    var waiting: Set<CentralID> { Set(peers.filter { $0.value.stage == .considering }.keys) }

    mutating func receive(_ event: PeripheralEvent, now: Duration) -> [Action] {
        switch event {
        case .started: return [.report(.sharingStarted)]
        case .interrupted(let error): return [.report(.sharingInterrupted(reason: error.message))]
        case .connected(let central): return connected(central, now: now)
        case .disconnected(let central): return disconnected(central)
        case .subscribed(let central, _, _): return [.report(.centralSubscribed("\(central)"))]
        case .unsubscribed(let central, _): return [.report(.centralUnsubscribed("\(central)"))]
        case .written(let central, _, let value): return written(value, by: central, now: now)
        }
    }

    // MARK: Connections

    private mutating func connected(_ central: CentralID, now: Duration) -> [Action] {
        guard peers[central] == nil else { return [] }
        guard peers.count < limits.centrals else {
            return [.report(.centralHungUp("\(central)", .tooMany)), .hangUp(central)]
        }
        peers[central] = Peer(collector: RequestCollector(allowance: limits.request), deadline: now + limits.silence)
        return [.report(.centralConnected("\(central)"))] + setAlarm()
    }

    private mutating func disconnected(_ central: CentralID) -> [Action] {
        guard peers.removeValue(forKey: central) != nil else { return [] }
        return tickets.values.filter { $0.central == central }.map(Action.abandon)
            + [.report(.centralDisconnected("\(central)"))] + (central == lastCentral ? [.finish(.done)] : [])
    }

    /// The radio gave up, and every connection with it.
    mutating func forsaken() -> [Action] {
        peers.keys.sorted { $0.description < $1.description }.flatMap { disconnected($0) }
    }

    /// Whether the requester still waits.
    func isWanted(_ ticket: Ticket) -> Bool { ending == nil && peers[ticket.central]?.stage == .considering }

    // MARK: The end

    /// Ends sharing, with a word to each central whose request is under consideration.
    mutating func end(_ reason: SharingEnd, now: Duration) -> [Action] {
        guard ending == nil else { return [] }
        let deadline = now + SharingLimits.farewell
        ending = (reason, deadline)
        return tickets.values.sorted { $0.id < $1.id }.map(Action.abandon) + [.wake(at: deadline)] + finishIfDone()
    }

    private func finishIfDone() -> [Action] {
        guard let ending, tickets.isEmpty, unsent == 0 else { return [] }
        return [.finish(ending.reason)]
    }

    private mutating func hangUp(_ central: CentralID, _ reason: HangUpReason) -> [Action] {
        peers[central]?.stage = .leaving
        peers[central]?.deadline = nil
        return tickets.values.filter { $0.central == central }.map(Action.abandon)
            + [.report(.centralHungUp("\(central)", reason)), .hangUp(central)]
            + (central == lastCentral ? [.finish(.done)] : [])
    }

    // MARK: Requests

    private mutating func written(_ value: [UInt8], by central: CentralID, now: Duration) -> [Action] {
        // One that was hung up for lack of room, or whose end is already known, is not heard.
        guard var peer = peers[central] else { return [] }
        switch peer.stage {
        case .leaving: return []
        case .considering:
            peers[central]?.excess += value.count + 1
            return peer.excess + value.count + 1 > SharingLimits.excess ? hangUp(central, .flooding) : []
        case .open:
            let outcome = peer.collector.receive(value, now: now)
            peer.deadline = peer.collector.deadline ?? now + limits.lingering
            if outcome != .incomplete { peer.requests += 1 }
            peers[central] = peer
            switch outcome {
            case .incomplete: return setAlarm()
            case .request(let request): return received(request, from: central, now: now)
            case .refused(let refusal): return refuse(Requester(central), refusal, of: central)
            }
        }
    }

    private mutating func received(_ request: ProximityRequest, from central: CentralID, now: Duration) -> [Action] {
        let requester = Requester(central, name: request.deviceName)
        // What costs nothing is asked first, and no person is ever asked for a foreign URL. Nor is one counted against everybody:
        // whoever does not even know the gateway locks nobody out.
        let isOwn = isOwn(request.providerURL)
        guard let peer = peers[central], peer.requests <= limits.requestsPerConnection,
            rate.admits(requester.key, at: now, isForAll: isOwn)
        else { return refuse(requester, .tooMany, of: central) }
        guard isOwn else { return refuse(requester, .foreignGateway, of: central) }
        guard lastCentral == nil, ending == nil else { return refuse(requester, .busy, of: central) }
        lastTicket += 1
        let ticket = Ticket(id: lastTicket, central: central, requester: requester, url: request.providerURL)
        tickets[ticket.id] = ticket
        peers[central]?.stage = .considering
        peers[central]?.deadline = nil
        peers[central]?.excess = 0
        return [.report(.requestReceived(requester)), .consider(ticket)]
    }

    private mutating func refuse(_ requester: Requester, _ refusal: RequestRefusal, of central: CentralID) -> [Action] {
        let reason: HangUpReason? =
            switch refusal {
            case .tooLong: .tooLong
            case .tooSlow: .slow
            case .tooMany: .tooMany
            default: nil
            }
        var actions: [Action] = [.report(.requestRefused(requester, .requestRefused(refusal)))]
        if let reason {
            peers[central]?.stage = .leaving
            peers[central]?.deadline = nil
            actions.append(.report(.centralHungUp("\(central)", reason)))
        }
        unsent += 1
        actions.append(.notify(central, requester, .failed, hangUp: reason != nil))
        return actions + setAlarm()
    }

    mutating func considered(_ ticket: Ticket, _ verdict: Verdict, now: Duration) -> [Action] {
        guard tickets.removeValue(forKey: ticket.id) != nil else { return [] }
        let (event, answer): (ProximityEvent, SharingAnswer) =
            switch verdict {
            case .authorized: (.sessionAuthorized(ticket.requester), .authorized)
            case .failed(let error): (.sessionNotAuthorized(ticket.requester, error), .failed)
            // Nobody was asked, as with the other refusals of a request.
            case .declined(.replayed): (.requestRefused(ticket.requester, .requestRefused(.replayed)), .failed)
            case .declined(let decision):
                (
                    .sessionNotAuthorized(ticket.requester, decision.error ?? .nobodyToAsk),
                    decision.isJudgement ? .declined : .failed
                )
            }
        guard peers[ticket.central]?.stage == .considering else {
            let lost = ProximityError.centralUnsubscribed(central: "\(ticket.central)")
            return [.report(event), .report(.sessionNotNotified(ticket.requester, lost))]
                + (answer == .authorized && endsAfterOne ? [.finish(.done)] : finishIfDone())
        }
        unsent += 1
        if answer == .authorized, endsAfterOne { lastCentral = ticket.central }
        peers[ticket.central]?.stage = .open
        peers[ticket.central]?.deadline = now + limits.lingering
        return [.report(event), .notify(ticket.central, ticket.requester, answer, hangUp: false)] + setAlarm()
    }

    /// - Parameter failure: `nil` when the central has the answer.
    mutating func notified(
        _ central: CentralID, _ requester: Requester, _ answer: SharingAnswer, failure: ProximityError?
    ) -> [Action] {
        let event =
            failure.map { ProximityEvent.sessionNotNotified(requester, $0) } ?? .sessionNotified(requester, answer)
        unsent -= 1
        guard answer == .authorized, endsAfterOne else { return [.report(event)] + finishIfDone() }
        // It is left the time to read the answer: it leaves by itself, or its lingering ends.
        return [.report(event)] + (peers[central] == nil ? [.finish(.done)] : finishIfDone())
    }

    // MARK: Time

    mutating func expire(now: Duration) -> [Action] {
        if let alarm, alarm <= now { self.alarm = nil }
        if let ending, ending.deadline <= now { return [.finish(ending.reason)] }
        let late = peers.filter { $0.value.deadline.map { $0 <= now } ?? false }.keys
            .sorted { $0.description < $1.description }
        var actions: [Action] = []
        for central in late {
            guard let peer = peers[central] else { continue }
            if peer.collector.isLate(at: now) {
                actions += refuse(Requester(central), .tooSlow, of: central)
            } else {
                actions += hangUp(central, peer.requests == 0 ? .silent : .finished)
            }
        }
        return actions + setAlarm()
    }

    /// Asks to be woken for the next deadline, unless it will be woken before it anyway.
    private mutating func setAlarm() -> [Action] {
        guard let next = peers.values.compactMap(\.deadline).min(), alarm.map({ next < $0 }) ?? true else { return [] }
        alarm = next
        return [.wake(at: next)]
    }
}

extension Requester {
    init(_ central: CentralID, name: String? = nil) {
        self.init(name: name, address: "\(central.address)", way: .ble)
    }
}
