import Bluetooth
import Proximity
import Synchronization

/// A radio that does as the test says.
package final class FakeTransport: BluetoothTransport {
    package struct Script {
        package var serveFailures: [BluetoothError] = []
        /// It never answers, until its caller is cancelled.
        package var serveHangs = false
        package var scanFailure: BluetoothError?
        /// What its status says.
        package var fault: BluetoothError?
        package var canAdvertise = true
        /// Its values go to all that subscribed.
        package var sendsToAll = false
        /// By address; the first for the first connection. Without one the device is not there.
        package var remotes: [BluetoothAddress: [FakeRemote]] = [:]
    }
    package let script = Mutex(Script())
    package let served = Log<FakePeripheral>()
    /// An entry each time it is asked to serve and hangs.
    package let hanging = Log<Bool>()
    /// Whether all that was served was off the air by the time it was closed.
    package let closed = Log<Bool>()
    /// An entry each time its status is asked for.
    package let asked = Log<Bool>()
    package let scans = Log<Scan>()
    package let connections = Log<BluetoothAddress>()

    package init() {}

    package struct Scan: Sendable {
        package let feed: AsyncThrowingStream<Sighting, any Error>.Continuation
        package let ended = Log<Bool>()

        package func see(_ number: UInt8, _ rssi: Int, name: String? = nil) {
            feed.yield(Sighting(address: address(number), rssi: rssi, name: name))
        }
    }

    package func status() async -> AdapterStatus {
        defer { asked.append(true) }
        return script.withLock {
            AdapterStatus(
                transport: .kernel, adapter: "hci0", canAdvertise: $0.canAdvertise, fault: $0.fault)
        }
    }
    package func close() async { closed.append(served.entries.allSatisfy { $0.acts.entries.contains(.stopped) }) }

    package func serve(_ service: LocalService, advertising: Advertisement) async throws(BluetoothError)
        -> any Peripheral
    {
        if let failure = script.withLock({ $0.serveFailures.isEmpty ? nil : $0.serveFailures.removeFirst() }) {
            throw failure
        }
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

    package func scan(for service: BluetoothUUID) async throws(BluetoothError) -> AsyncThrowingStream<
        Sighting, any Error
    > {
        if let failure = script.withLock({ $0.scanFailure }) { throw failure }
        let (stream, feed) = AsyncThrowingStream.makeStream(of: Sighting.self)
        let scan = Scan(feed: feed)
        feed.onTermination = { _ in scan.ended.append(true) }
        scans.append(scan)
        return stream
    }

    package func connect(to address: BluetoothAddress, timeout: Duration) async throws(BluetoothError)
        -> any RemotePeripheral
    {
        connections.append(address)
        let remote = script.withLock { script -> FakeRemote? in
            guard let remotes = script.remotes[address], let first = remotes.first else { return nil }
            script.remotes[address] = Array(remotes.dropFirst())
            return first
        }
        guard let remote else { throw .timedOut(operation: "connect") }
        if remote.hangsAt == .connect {
            await remote.closed.hang()
            throw .disconnected
        }
        return remote
    }
}

/// This board's service on the air.
package final class FakePeripheral: Peripheral {
    package enum Act: Sendable, Equatable {
        case notified(CentralID, String)
        case hungUp(CentralID)
        case stopped
    }
    package let service: LocalService
    package let advertisement: Advertisement
    package let events: AsyncStream<PeripheralEvent>
    package let feed: AsyncStream<PeripheralEvent>.Continuation
    package let acts = Log<Act>()
    package let notifyFailure = Mutex<BluetoothError?>(nil)
    /// What happens between the air's answer and the caller's.
    package let whenNotified = Mutex<(@Sendable () async -> Void)?>(nil)
    /// Whether a value goes to all that subscribed.
    package let sendsToAll: Bool
    private let listeners = Mutex<Set<CentralID>>([])

    package init(_ service: LocalService, _ advertisement: Advertisement, sendsToAll: Bool = false) {
        self.service = service
        self.sendsToAll = sendsToAll
        self.advertisement = advertisement
        (events, feed) = AsyncStream.makeStream(of: PeripheralEvent.self)
    }

    package func notify(
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
        await whenNotified.withLock { $0 }?()
    }

    package func disconnect(_ central: CentralID) async {
        acts.append(.hungUp(central))
        listeners.withLock { _ = $0.remove(central) }
        feed.yield(.disconnected(central))
    }

    package func stop() async {
        acts.append(.stopped)
        feed.finish()
    }

    package func write(_ value: [UInt8], by central: CentralID) {
        feed.yield(.written(central, characteristic: characteristic, value: value))
    }

    /// Connects, subscribes and writes a whole request.
    package func request(by central: CentralID, _ url: String = ownURL, name: String? = "Pixel") {
        feed.yield(.connected(central))
        listeners.withLock { _ = $0.insert(central) }
        feed.yield(.subscribed(central, characteristic: characteristic, .notify))
        for piece in pieces(url, name: name) { write(piece, by: central) }
    }
}

/// Another device that shares its session.
package final class FakeRemote: RemotePeripheral {
    package enum Step: Sendable, Equatable { case connect, discover, subscribe, write, close }
    package struct Behavior {
        package var hasCharacteristic: Bool
        package var properties: CharacteristicProperties
        package var canSubscribe: Bool
        package var mtu: Int
        /// Said when the end mark has come.
        package var answer: String?

        package init(
            hasCharacteristic: Bool = true,
            properties: CharacteristicProperties = [.writeWithoutResponse, .notify],
            canSubscribe: Bool = true, mtu: Int = 23, answer: String? = nil
        ) {
            self.hasCharacteristic = hasCharacteristic
            self.properties = properties
            self.canSubscribe = canSubscribe
            self.mtu = mtu
            self.answer = answer
        }
    }
    package let behavior: Behavior
    /// Where it never comes back from, until it is closed; from `close` when the test lets it go.
    package let hangsAt: Step?
    package let values: AsyncStream<RemoteValue>
    package let feed: AsyncStream<RemoteValue>.Continuation
    package let steps = Log<Step>()
    package let written = Log<[UInt8]>()
    package let responses = Log<Bool>()
    package let closed = Log<Bool>()
    package let letGo = Log<Bool>()

    package init(_ behavior: Behavior = Behavior(), hangsAt: Step? = nil) {
        self.behavior = behavior
        self.hangsAt = hangsAt
        (values, feed) = AsyncStream.makeStream(of: RemoteValue.self)
    }

    private func at(_ step: Step) async throws(BluetoothError) {
        steps.append(step)
        guard hangsAt == step else { return }
        await closed.hang()
        throw .disconnected
    }

    package func discover(service: BluetoothUUID, characteristic: BluetoothUUID) async throws(BluetoothError)
        -> RemoteCharacteristic?
    {
        try await at(.discover)
        guard behavior.hasCharacteristic else { return nil }
        return RemoteCharacteristic(
            uuid: characteristic, properties: behavior.properties, hasConfigurationDescriptor: behavior.canSubscribe)
    }

    package func subscribe(_ characteristic: RemoteCharacteristic) async throws(BluetoothError) -> Bool {
        try await at(.subscribe)
        return behavior.canSubscribe
    }

    package func write(_ value: [UInt8], to characteristic: RemoteCharacteristic, withResponse: Bool)
        async throws(BluetoothError)
    {
        try await at(.write)
        written.append(value)
        responses.append(withResponse)
        if value == Array("EOM".utf8), let answer = behavior.answer { say(answer) }
    }

    package func say(_ text: String) {
        feed.yield(RemoteValue(characteristic: characteristic, bytes: Array(text.utf8)))
    }

    package var mtu: Int { get async { behavior.mtu } }

    package func close() async {
        closed.append(true)
        feed.finish()
        if hangsAt == .close { await letGo.hang() }
    }
}
