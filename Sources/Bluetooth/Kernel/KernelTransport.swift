import Synchronization

/// Bluetooth directly from the kernel, for images without bluetoothd: its management channel, and sockets on the ATT
/// channel.
///
/// It needs `CAP_NET_ADMIN`. A running bluetoothd occupies the ATT channel.
///
/// Bonds live as long as the transport. A central with an older bond fails to encrypt with it and has to pair again,
/// for which some ask a person.
public final class KernelTransport: BluetoothTransport {
    private let radio: KernelRadio
    private let queue = BluetoothQueue()
    private let activities = Mutex<[WeakActivity]>([])

    private struct WeakActivity {
        weak var activity: (any KernelActivity)?
    }

    /// - Parameters:
    ///   - adapter: empty for the first, `hci1`, or an address
    ///   - isPrivate: shows other devices changing addresses that only bonded devices can resolve. Every transport
    ///     makes a new key. Setting it on an adapter that is on without it switches the adapter off and on, and it
    ///     stays set when the program ends.
    public init(adapter: String, isPrivate: Bool = false) {
        radio = KernelRadio(adapter: adapter, privacyKey: isPrivate ? KernelRadio.newKey() : nil)
    }

    public func status() async -> AdapterStatus {
        var status = AdapterStatus(transport: .kernel)
        do throws(BluetoothError) {
            let socket = try ManagementSocket(queue: queue, interest: .answers)
            do throws(BluetoothError) {
                try await look(by: socket, into: &status)
            } catch {
                status.fault = error
            }
            await socket.close()
        } catch {
            status.fault = error
        }
        return status
    }

    private func look(by socket: ManagementSocket, into status: inout AdapterStatus) async throws(BluetoothError) {
        let found = try await socket.adapter(named: radio.adapter)
        let information = found.information
        status.adapter = found.name
        status.address = information.identity
        status.isPowered = found.isPowered
        status.supportsLowEnergy = information.supported.contains(.lowEnergy)
        let blocked = found.blocked
        status.isBlocked = blocked != nil
        guard status.supportsLowEnergy else { throw .noLowEnergy(adapter: found.name) }
        if let blocked { throw blocked }
        let features = ManagementCommand.readAdvertisingFeatures(found.index)
        // The answer holds flags, two lengths, and the possible number of advertisements. Refused without the
        // permission.
        let answer = try await socket.send(features)
        guard answer.count > 6 else { throw .unreadable(features) }
        status.canAdvertise = answer[6] > 0
        status.canScan = true
    }

    public func serve(_ service: LocalService, advertising: Advertisement) async throws(BluetoothError)
        -> any Peripheral
    {
        let peripheral = try KernelPeripheral(service, advertising, by: radio, queue: queue)
        try await peripheral.start()
        remember(peripheral)
        return peripheral
    }

    public func scan(for service: BluetoothUUID) async throws(BluetoothError) -> AsyncThrowingStream<
        Sighting, any Error
    > {
        let (scan, sightings) = try await KernelScan.start(for: service, on: radio, queue: queue)
        remember(scan)
        return sightings
    }

    public func connect(to address: BluetoothAddress, timeout: Duration) async throws(BluetoothError)
        -> any RemotePeripheral
    {
        let remote = try await KernelRemote.connect(to: address, timeout: timeout, by: radio, queue: queue)
        remember(remote)
        return remote
    }

    private func remember(_ activity: any KernelActivity) {
        activities.withLock { activities in
            activities.removeAll { $0.activity == nil }
            activities.append(WeakActivity(activity: activity))
        }
    }

    public func close() async {
        let ending = activities.withLock { activities in
            defer { activities = [] }
            return activities.compactMap(\.activity)
        }
        for activity in ending { await activity.end() }
    }
}

/// State shared by all activities of a transport.
struct KernelRadio: Sendable {
    /// As the settings name it.
    let adapter: String
    /// 16 bytes, from which private addresses are derived; `nil` to show the adapter's own address.
    let privacyKey: [UInt8]?
    let bonds = Bonds()

    static func newKey() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: .min ... .max) } }
}

/// An activity that a transport started and can end.
protocol KernelActivity: AnyObject, Sendable {
    func end() async
}

extension KernelPeripheral: KernelActivity {
    func end() async { await stop() }
}

extension KernelRemote: KernelActivity {
    func end() async { await close() }
}

extension KernelScan: KernelActivity {
    func end() async { stop() }
}
