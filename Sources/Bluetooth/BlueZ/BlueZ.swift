import Dispatch
import Groundwork

/// bluetoothd as this program sees it: one bus connection, bluetoothd's objects, and this program's requests to it.
///
/// Everything runs on one queue, on which the connection's descriptor is watched too.
actor BlueZ {
    let queue = BluetoothQueue()
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    /// `hci1`, an address, or empty for the first.
    let wantedAdapter: String

    var bus: BusConnection?
    var objects = BlueZObjects()
    /// The unique name of the owner of `org.bluez`. Signals and calls from other senders are ignored.
    var owner: String? { didSet { if (oldValue == nil) != (owner == nil) { presence.send(owner != nil) } } }
    nonisolated let presence = Broadcast<Bool>()
    /// Why bluetoothd does not answer, although it is running.
    var refusal: BluetoothError?
    private var opening: Task<BluetoothError?, Never>?
    private var isClosed = false

    private var waiters: [Int: Waiter] = [:]
    private var lastNumber = 0

    var serving: Serving?
    var searches: [Int: Search] = [:]
    var daemonScan = DaemonScan()
    /// The newest call for a scan; its value is the failure, if any.
    var discoveryStart: Task<BusFailure?, Never>?
    /// The number of the next restart of the discovery.
    var renewal = 0
    /// Connections to peripherals, by the device's path.
    var links: [String: PeripheralLink] = [:]
    /// Whether this program is registered as bluetoothd's pairing agent.
    var isAgent = false
    /// The number of the current pairing period; `nil` while no device may pair.
    var pairing: Int?
    /// Devices that this program allowed to pair and no person has admitted yet.
    var newBonds: Set<String> = []
    /// The devices among them that a person has admitted since.
    var keptBonds: Set<String> = []

    init(adapter: String) { wantedAdapter = adapter }

    func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    // MARK: The connection

    /// Connects to the bus, unless that has been done. Does not require bluetoothd to be running.
    func open() async throws(BluetoothError) {
        guard !isClosed else { throw .stopped }
        guard bus == nil else { return }
        let task = opening ?? Task { await self.connect() }
        opening = task
        let failure = await task.value
        opening = nil
        if let failure { throw failure }
    }

    private func connect() async -> BluetoothError? {
        let operation = "connect to the system bus"
        switch BusLibrary.shared {
        case .failure(let missing):
            return .failed(operation: operation, reason: "\(missing.name) is missing (package libsystemd0)")
        case .success(let library):
            do {
                bus = try BusConnection(library, queue: queue.queue) { [weak self] in self?.assumeIsolated { $0.pump() }
                }
            } catch {
                return .failed(operation: operation, reason: Self.reason(ofErrno: error.code))
            }
        }
        let rules = [
            "type='signal',sender='\(BlueZName.bus)',member='NameOwnerChanged',arg0='\(BlueZName.service)'",
            "type='signal',sender='\(BlueZName.service)'",
        ]
        for rule in rules {
            let call = BusCall(
                destination: BlueZName.bus, path: BlueZName.busPath, interface: BlueZName.bus,
                member: "AddMatch", arguments: [.text(rule)])
            if case .failure(let failure) = await self.call(call) {
                loseBus()
                return BluetoothError(failure, operation: operation)
            }
        }
        let question = BusCall(
            destination: BlueZName.bus, path: BlueZName.busPath, interface: BlueZName.bus,
            member: "GetNameOwner", arguments: [.text(BlueZName.service)])
        await ask(question) { bluez, result in
            if case .success(let answer) = result { bluez.owner = answer.first?.text }
        }
        if owner != nil { await refresh() }
        return nil
    }

    func close() async {
        isClosed = true
        presence.finish()
        await stopServing()
        for search in searches.keys { endSearch(search) }
        for path in links.keys { await endLink(path) }
        await closePairing()
        await forgetBonds()
        loseBus()
    }

    /// Asks bluetoothd for its objects.
    func refresh() async {
        let askedOwner = owner
        let question = BusCall(
            path: "/", interface: BlueZName.objectManager, member: "GetManagedObjects", timeout: .seconds(10))
        await ask(question) { $0.takeObjects($1, of: askedOwner) }
    }

    /// Applies bluetoothd's list of objects; later signals are changes to that list.
    func takeObjects(_ result: Result<[BusValue], BusFailure>, of askedOwner: String?) {
        guard owner == askedOwner, askedOwner != nil else { return }
        switch result {
        case .success(let answer):
            refusal = nil
            apply(objects.reset(to: answer))
        case .failure(let failure): refusal = BluetoothError(failure, operation: "ask bluetoothd for its adapters")
        }
        pokeServing()
    }

    private func loseDaemon() {
        owner = nil
        refusal = nil
        daemonScan.forget()
        isAgent = false
        apply(objects.clear())
        for search in searches.keys { endSearch(search, throwing: .daemonMissing) }
    }

    /// Called when the bus is gone, and with it bluetoothd for this program.
    private func loseBus() {
        bus?.close()
        bus = nil
        loseDaemon()
    }

    func call(_ call: BusCall) async -> Result<[BusValue], BusFailure> {
        guard let bus else { return .failure(.closed) }
        return await withCheckedContinuation { continuation in
            bus.send(call) { continuation.resume(returning: $0) }
        }
    }

    /// A call whose answer is handled in order among the signals: an answer that the actor awaits would be handled
    /// after signals that follow it.
    private func ask(_ call: BusCall, _ take: @escaping (isolated BlueZ, Result<[BusValue], BusFailure>) -> Void) async
    {
        guard let bus else { return }
        await withCheckedContinuation { continuation in
            bus.send(call) { result in
                take(self, result)
                continuation.resume()
            }
        }
    }

    /// A call that throws this module's errors.
    @discardableResult
    func ask(_ call: BusCall, to operation: String) async throws(BluetoothError) -> [BusValue] {
        switch await self.call(call) {
        case .success(let answer): return answer
        case .failure(let failure): throw BluetoothError(failure, operation: operation)
        }
    }

    // MARK: Incoming messages

    private func pump() { take(bus?.process() ?? []) }

    func take(_ incoming: [BusConnection.Incoming]) {
        for event in incoming {
            switch event {
            case .reply(let result, let take): take(result)
            case .signal(BlueZName.bus, _, BlueZName.bus, "NameOwnerChanged", let arguments): ownerChanged(arguments)
            case .signal(let sender, let path, let interface, let member, let arguments):
                guard sender == owner else { continue }
                apply(objects.receive(path: path, interface: interface, member: member, arguments))
            case .call(let message): answer(message)
            case .closed:
                loseBus()
                pokeServing()
            }
        }
    }

    private func ownerChanged(_ arguments: [BusValue]) {
        guard arguments.count == 3, arguments[0].text == BlueZName.service, let name = arguments[2].text else { return }
        if owner != nil { loseDaemon() }
        // Set at once, so that signals of the new owner count before its first answer.
        if !name.isEmpty {
            owner = name
            Task { await self.refresh() }
        }
        pokeServing()
    }

    private func apply(_ changes: [BlueZObjects.Change]) {
        for change in changes {
            serve(change)
            search(change)
            link(change)
            bond(change)
        }
        for (number, waiter) in waiters {
            guard let verdict = waiter.check(objects) else { continue }
            waiters[number] = nil
            waiter.continuation.resume(returning: verdict)
        }
    }

    // MARK: Waiting

    private struct Waiter {
        let check: (BlueZObjects) -> Verdict?
        let continuation: CheckedContinuation<Verdict, Never>
    }

    enum Verdict { case yes, no, late }

    /// Waits until `check` gives a verdict on the objects, or the time is over.
    func wait(for limit: Duration, until check: @escaping (BlueZObjects) -> Verdict?) async -> Verdict {
        if let verdict = check(objects) { return verdict }
        let number = nextNumber()
        return await withCheckedContinuation { continuation in
            waiters[number] = Waiter(check: check, continuation: continuation)
            after(limit) { $0.waiters.removeValue(forKey: number)?.continuation.resume(returning: .late) }
        }
    }

    func after(_ delay: Duration, _ action: @escaping @Sendable (isolated BlueZ) -> Void) {
        queue.queue.asyncAfter(deadline: .now() + max(delay, .zero).dispatched) { [weak self] in
            self?.assumeIsolated { action($0) }
        }
    }
}
