import Bluetooth
import Proximity
import Synchronization

/// A radio that does as the test says.
final class FakeTransport: BluetoothTransport {
    struct Script {
        var serveFailures: [BluetoothError] = []
        /// It never answers, until its caller is cancelled.
        var serveHangs = false
        var scanFailure: BluetoothError?
        var canAdvertise = true
        /// Its values go to all that subscribed.
        var sendsToAll = false
        /// By address; the first for the first connection. Without one the device is not there.
        var remotes: [BluetoothAddress: [FakeRemote]] = [:]
    }
    let script = Mutex(Script())
    let served = Log<FakePeripheral>()
    /// An entry each time it is asked to serve and hangs.
    let hanging = Log<Bool>()
    /// Whether all that was served was off the air by the time it was closed.
    let closed = Log<Bool>()
    let scans = Log<Scan>()
    let connections = Log<BluetoothAddress>()

    struct Scan: Sendable {
        let feed: AsyncThrowingStream<Sighting, any Error>.Continuation
        let ended = Log<Bool>()

        func see(_ number: UInt8, _ rssi: Int, name: String? = nil) {
            feed.yield(Sighting(address: address(number), rssi: rssi, name: name))
        }
    }

    let kind = TransportKind.kernel
    func status() async -> AdapterStatus {
        AdapterStatus(transport: .kernel, adapter: "hci0", canAdvertise: script.withLock { $0.canAdvertise })
    }
    func close() async { closed.append(served.entries.allSatisfy { $0.acts.entries.contains(.stopped) }) }

    func serve(_ service: LocalService, advertising: Advertisement) async throws(BluetoothError) -> any Peripheral {
        if let failure = script.withLock({ $0.serveFailures.isEmpty ? nil : $0.serveFailures.removeFirst() }) { throw failure }
        if script.withLock({ $0.serveHangs }) {
            let (never, feed) = AsyncStream.makeStream(of: Void.self)
            hanging.append(true)
            for await _ in never {}
            withExtendedLifetime(feed) {}
            throw .stopped
        }
        let peripheral = FakePeripheral(service, advertising, sendsToAll: script.withLock { $0.sendsToAll })
        served.append(peripheral)
        return peripheral
    }

    func scan(for service: BluetoothUUID) async throws(BluetoothError) -> AsyncThrowingStream<Sighting, any Error> {
        if let failure = script.withLock({ $0.scanFailure }) { throw failure }
        let (stream, feed) = AsyncThrowingStream.makeStream(of: Sighting.self)
        let scan = Scan(feed: feed)
        feed.onTermination = { _ in scan.ended.append(true) }
        scans.append(scan)
        return stream
    }

    func connect(to address: BluetoothAddress, timeout: Duration) async throws(BluetoothError) -> any RemotePeripheral {
        connections.append(address)
        let remote = script.withLock { script -> FakeRemote? in
            guard let remotes = script.remotes[address], let first = remotes.first else { return nil }
            script.remotes[address] = Array(remotes.dropFirst())
            return first
        }
        guard let remote else { throw .timedOut(operation: "connect") }
        if remote.hangsAt == .connect { await remote.closed.wait { _ in true }; throw .disconnected }
        return remote
    }
}

/// This board's service on the air.
final class FakePeripheral: Peripheral {
    enum Act: Sendable, Equatable {
        case notified(CentralID, String)
        case hungUp(CentralID)
        case stopped
    }
    let service: LocalService
    let advertisement: Advertisement
    let events: AsyncStream<PeripheralEvent>
    let feed: AsyncStream<PeripheralEvent>.Continuation
    let acts = Log<Act>()
    let notifyFailure = Mutex<BluetoothError?>(nil)
    /// Whether a value goes to all that subscribed.
    let sendsToAll: Bool
    private let listeners = Mutex<Set<CentralID>>([])

    init(_ service: LocalService, _ advertisement: Advertisement, sendsToAll: Bool = false) {
        self.service = service
        self.sendsToAll = sendsToAll
        self.advertisement = advertisement
        (events, feed) = AsyncStream.makeStream(of: PeripheralEvent.self)
    }

    func notify(
        _ value: [UInt8], to central: CentralID, characteristic: BluetoothUUID,
        sparing: @escaping @Sendable () async -> Set<CentralID>
    ) async throws(BluetoothError) {
        if let failure = notifyFailure.withLock({ $0 }) { throw failure }
        if sendsToAll {
            // As bluetoothd does: a value goes to all that subscribed, so the others are hung up first.
            let others = listeners.withLock { $0.subtracting([central]) }
            guard await sparing().isDisjoint(with: others) else {
                throw .failed(operation: "notify", reason: "another central listens")
            }
            for other in others { await disconnect(other) }
        }
        acts.append(.notified(central, String(decoding: value, as: UTF8.self)))
    }

    func disconnect(_ central: CentralID) async {
        acts.append(.hungUp(central))
        listeners.withLock { _ = $0.remove(central) }
        feed.yield(.disconnected(central))
    }

    func stop() async {
        acts.append(.stopped)
        feed.finish()
    }

    func write(_ value: [UInt8], by central: CentralID) {
        feed.yield(.written(central, characteristic: characteristic, value: value))
    }

    /// Connects, subscribes and writes a whole request.
    func request(by central: CentralID, _ url: String = ownURL, name: String? = "Pixel") {
        feed.yield(.connected(central))
        listeners.withLock { _ = $0.insert(central) }
        feed.yield(.subscribed(central, characteristic: characteristic, .notify))
        for piece in pieces(url, name: name) { write(piece, by: central) }
    }
}

/// Another device that shares its session.
final class FakeRemote: RemotePeripheral {
    enum Step: Sendable, Equatable { case connect, discover, subscribe, write, close }
    struct Behaviour {
        var hasCharacteristic = true
        var properties: CharacteristicProperties = [.writeWithoutResponse, .notify]
        var canSubscribe = true
        var mtu = 23
        /// Said when the end mark has come.
        var answer: String?
    }
    let behaviour: Behaviour
    /// Where it never comes back from, until it is closed; from `close` when the test lets it go.
    let hangsAt: Step?
    let values: AsyncStream<RemoteValue>
    let feed: AsyncStream<RemoteValue>.Continuation
    let steps = Log<Step>()
    let written = Log<[UInt8]>()
    let responses = Log<Bool>()
    let closed = Log<Bool>()
    let letGo = Log<Bool>()

    init(_ behaviour: Behaviour = Behaviour(), hangsAt: Step? = nil) {
        self.behaviour = behaviour
        self.hangsAt = hangsAt
        (values, feed) = AsyncStream.makeStream(of: RemoteValue.self)
    }

    private func at(_ step: Step) async throws(BluetoothError) {
        steps.append(step)
        guard hangsAt == step else { return }
        await closed.wait { _ in true }
        throw .disconnected
    }

    func discover(service: BluetoothUUID, characteristic: BluetoothUUID) async throws(BluetoothError) -> RemoteCharacteristic? {
        try await at(.discover)
        guard behaviour.hasCharacteristic else { return nil }
        return RemoteCharacteristic(
            uuid: characteristic, properties: behaviour.properties, hasConfigurationDescriptor: behaviour.canSubscribe)
    }

    func subscribe(_ characteristic: RemoteCharacteristic) async throws(BluetoothError) -> Bool {
        try await at(.subscribe)
        return behaviour.canSubscribe
    }

    func write(_ value: [UInt8], to characteristic: RemoteCharacteristic, withResponse: Bool) async throws(BluetoothError) {
        try await at(.write)
        written.append(value)
        responses.append(withResponse)
        if value == Array("EOM".utf8), let answer = behaviour.answer { say(answer) }
    }

    func say(_ text: String) { feed.yield(RemoteValue(characteristic: characteristic, bytes: Array(text.utf8))) }

    var mtu: Int { get async { behaviour.mtu } }

    func close() async {
        closed.append(true)
        feed.finish()
        if hangsAt == .close { await letGo.wait { _ in true } }
    }
}
