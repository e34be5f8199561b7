import Bluetooth
import Groundwork

/// The state machine of a device that shares its session, without radio, clock and people: takes events, returns
/// actions (MAG 8.5).
struct SharingMachine {
    /// A request that passed the checks and needs consent.
    struct Ticket: Equatable {
        let id: Int
        let central: CentralID
        let requester: Requester
        let url: String
    }

    enum Action: Equatable {
        case report(ProximityEvent)
        /// Ask for consent, then call the gateway; then call ``considered(_:_:now:)``.
        case consider(Ticket)
        /// Stop asking: the requester left, or sharing ends.
        case abandon(Ticket)
        /// Notify, then disconnect if `hangUp` is set; then call ``notified(_:_:_:failure:)``.
        case notify(CentralID, Requester, SharingAnswer, hangUp: Bool)
        case hangUp(CentralID)
        /// Call ``expire(now:)`` at this time.
        case wake(at: Duration)
        case finish(SharingEnd)
    }

    /// The result of considering a request.
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
        /// The number of bytes and writes that came while a request is under consideration.
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
    /// The authorized central after which sharing ends.
    private var lastCentral: CentralID?
    /// Set when sharing is about to end: it ends when every central has its answer, or at the deadline.
    private var ending: (reason: SharingEnd, deadline: Duration)?
    /// The number of answers being sent.
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

    /// The number of centrals that are connected according to the events so far.
    var centralCount: Int { peers.count }
    /// The centrals that wait for consent or for the gateway.
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

    /// The radio failed and with it every connection.
    mutating func radioFailed() -> [Action] {
        peers.keys.sorted { $0.description < $1.description }.flatMap { disconnected($0) }
    }

    /// Whether the requester is still waiting.
    func isWanted(_ ticket: Ticket) -> Bool { ending == nil && peers[ticket.central]?.stage == .considering }

    // MARK: Ending

    /// Ends sharing and answers each central whose request is under consideration.
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
        // Ignore a central that was disconnected for lack of room, or whose disconnection was already reported.
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
        // The cheap check comes first, and a person is never asked about a foreign URL. A foreign URL also does not
        // count toward the limit for all, so that a stranger who does not know the gateway cannot lock others out.
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
            case .notUTF8, .notJSON, .withoutURL, .foreignGateway, .replayed, .busy, .ambiguous: nil
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
            // Reported as a refused request, because no one was asked.
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

    /// - Parameter failure: `nil` if the central has received the answer.
    mutating func notified(
        _ central: CentralID, _ requester: Requester, _ answer: SharingAnswer, failure: ProximityError?
    ) -> [Action] {
        let event =
            failure.map { ProximityEvent.sessionNotNotified(requester, $0) } ?? .sessionNotified(requester, answer)
        unsent -= 1
        guard answer == .authorized, endsAfterOne else { return [.report(event)] + finishIfDone() }
        // Give the central time to read the answer: it disconnects by itself, or after the lingering time.
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

    /// Requests a wake-up for the next deadline, unless there is an earlier one.
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
