import CBluetooth
import Dispatch
import Glibc
import Groundwork

/// A service put on the air by the kernel itself: advertised by its management, served on the ATT channel's sockets.
///
/// Events of the adapter only wake ``run()``, which checks the actual state: events that are missed or reordered do
/// no harm.
actor KernelPeripheral: Peripheral {
    /// The advertisement's number. Without bluetoothd only a killed process of ours can have left one.
    private static let instance: UInt8 = 1
    private static let allInstances: UInt8 = 0
    /// Connections that wait to be accepted.
    private static let backlog: Int32 = 8

    nonisolated let queue: BluetoothQueue
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
    nonisolated var events: AsyncStream<PeripheralEvent> { pending.stream }
    nonisolated let pending = EventQueue()

    private struct OnAir {
        let adapter: KernelAdapter
        let listener: Descriptor
        let watch: Descriptor.Watch
    }

    let database: AttributeDatabase
    let socket: ManagementSocket
    var centrals: [CentralID: Central] = [:]
    var centralCount = 0
    var ticketCount = 0
    let needsEncryption: Bool
    private let advertisement: Advertisement
    private let radio: KernelRadio
    private var onAir: OnAir?
    /// Why the service is off the air, or soon will be.
    private var lost: BluetoothError?
    /// The error last reported to the reader.
    private var reported: BluetoothError?
    /// Cleared once the adapter was switched on: if it is switched off afterwards, it stays off.
    private var mayPower = true
    private var isStopped = false
    private var isAdvertisingRefused = false
    private var backoff = Backoff(cap: .seconds(60))
    private let wakes: AsyncStream<Void>
    private nonisolated let wake: AsyncStream<Void>.Continuation
    private var switches: Descriptor.Watch?

    init(
        _ service: LocalService, _ advertising: Advertisement, by radio: KernelRadio, queue: BluetoothQueue
    ) throws(BluetoothError) {
        (advertisement, self.queue, self.radio) = (advertising, queue, radio)
        socket = try ManagementSocket(queue: queue, interest: .adapters)
        database = AttributeDatabase(service: service, deviceName: advertising.localName ?? "")
        needsEncryption = service.characteristics.contains(where: \.requiresEncryption)
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// - Throws: an error that waiting does not cure: no permission, another program on the ATT channel
    func start() async throws(BluetoothError) {
        await socket.startWatching()
        switches = RadioSwitch.watch(on: queue) { [weak self] in self?.assumeIsolated { $0.radioChanged() } }
        Task { for await message in socket.news { notice(message) } }
        do throws(BluetoothError) {
            try await goOnAir()
        } catch {
            if case .noPermission = error {
                await stop()
                throw error
            }
            report(error)
        }
        Task { await run() }
    }

    func stop() async {
        guard !isStopped else { return }
        isStopped = true
        wake.finish()
        for central in Array(centrals.keys) { await disconnect(central) }
        await goOffAir()
        switches = nil
        // Ends the task that reads its messages, just as the end of `wakes` ended the other task.
        await socket.close()
        pending.finish()
    }

    // MARK: On and off the air

    private func run() async {
        for await _ in wakes where !isStopped {
            if let reason = await lostNow() {
                await goOffAir()
                report(reason)
            }
            guard onAir == nil, !isStopped else { continue }
            do throws(BluetoothError) { try await goOnAir() } catch { report(error) }
        }
    }

    private func goOnAir() async throws(BluetoothError) {
        let adapter = try await socket.ready(radio, mayPower: mayPower)
        mayPower = false
        if needsEncryption { try await socket.allowPairing(adapter, bonds) }
        let listener = try ATTChannel.socket(of: adapter, operation: "listen on \(adapter.name)")
        guard listen(listener.number, Self.backlog) == 0 else { throw .system("listen on \(adapter.name)", errno) }
        try await advertise(on: adapter)
        guard !isStopped else {
            _ = try? await socket.send(.removeAdvertising(adapter.index, instance: Self.instance))
            return
        }
        let watch = listener.watch(on: queue) { [weak self] in self?.assumeIsolated { $0.acceptCentrals() } }
        onAir = OnAir(adapter: adapter, listener: listener, watch: watch)
        (lost, reported) = (nil, nil)
        backoff.reset()
        _ = pending.put(.started)
    }

    private func advertise(on adapter: KernelAdapter) async throws(BluetoothError) {
        // An advertisement may be left over from a killed process or from before the adapter was switched off.
        _ = try? await socket.send(.removeAdvertising(adapter.index, instance: Self.instance))
        do throws(BluetoothError) {
            try await socket.send(advertisingCommand(adapter))
        } catch {
            // Linux 6.1 neither changes nor removes an advertisement that a controller with extended advertising has
            // lost while switched off. But it can remove all of them, and without bluetoothd all are ours.
            guard case .failed = error else { throw error }
            _ = try? await socket.send(.removeAdvertising(adapter.index, instance: Self.allInstances))
            try await socket.send(advertisingCommand(adapter))
        }
    }

    private func goOffAir() async {
        lost = nil
        guard let was = onAir else { return }
        onAir = nil
        was.watch.cancel()
        _ = try? await socket.send(.removeAdvertising(was.adapter.index, instance: Self.instance))
    }

    private func advertisingCommand(_ adapter: KernelAdapter) -> ManagementCommand {
        .addAdvertising(
            adapter.index, instance: Self.instance,
            data: AdvertisingData.packet(advertising: advertisement.service),
            scanResponse: AdvertisingData.scanResponse(name: advertisement.localName))
    }

    /// Controllers stop advertising when a central connects, and Linux resumes only when it has disconnected.
    func advertiseAgain() {
        guard let onAir, !isStopped else { return }
        Task {
            do throws(BluetoothError) {
                try await socket.send(advertisingCommand(onAir.adapter))
                isAdvertisingRefused = false
            } catch {
                // The controller cannot do both at once: retried when a central disconnects.
                isAdvertisingRefused = true
            }
        }
    }

    // MARK: Events of the adapter

    private func notice(_ message: ManagementMessage) {
        switch message.event {
        case .adapterAdded:
            mayPower = true
            wake.yield()
        case .adapterRemoved where message.index == onAir?.adapter.index:
            lost = .noAdapter(name: onAir?.adapter.name ?? "")
            if let onAir { bonds.forget(onAir.adapter.information.identity) }
            wake.yield()
        case .advertisingRemoved(Self.instance) where message.index == onAir?.adapter.index:
            lost = .failed(operation: "advertise", reason: "another program withdrew it")
            wake.yield()
        case .settings: wake.yield()
        case .disconnected where message.index == onAir?.adapter.index && isAdvertisingRefused: advertiseAgain()
        case .answer, .adapterRemoved, .connected, .disconnected, .found, .discovering, .advertisingRemoved,
            .confirmation, .longTermKey, .identity, .pairingFailed, .other:
            if message.index == onAir?.adapter.index { notePairing(message.event) }
        }
    }

    private func radioChanged() {
        mayPower = true
        wake.yield()
    }

    /// Why the service is off the air; `nil` while all is well.
    private func lostNow() async -> BluetoothError? {
        guard let onAir else { return nil }
        if let lost { return lost }
        guard let now = try? await socket.adapter(at: onAir.adapter.index) else {
            return .noAdapter(name: onAir.adapter.name)
        }
        guard now.information.identity == onAir.adapter.information.identity else {
            return .noAdapter(name: onAir.adapter.name)
        }
        return now.isReady ? nil : now.blocked ?? .switchedOff(now)
    }

    /// Reports an error to the reader once, and retries later if no event will announce a change.
    private func report(_ error: BluetoothError) {
        if reported?.message != error.message { _ = pending.put(.interrupted(error)) }
        reported = error
        switch error {
        case .noAdapter: return
        case .blocked where switches != nil: return
        default: break
        }
        let delay = backoff.next()
        queue.queue.asyncAfter(deadline: .now() + delay.dispatched) { [wake] in wake.yield() }
    }

    // MARK: Centrals

    private func acceptCentrals() {
        guard let onAir else { return }
        for _ in 0..<Self.backlog {
            var bytes = [UInt8](repeating: 0, count: 6)
            var kind: UInt8 = 0
            let accepted = latchkey_att_accept(onAir.listener.number, &bytes, &kind)
            guard accepted >= 0 else {
                if accepted == -EAGAIN || accepted == -ECONNABORTED || accepted == -EINTR { return }
                onAir.watch.cancel()
                lost = .system("accept a central", -accepted)
                wake.yield()
                return
            }
            let descriptor = Descriptor(accepted)
            guard let address = BluetoothAddress(kernelBytes: bytes, kind: kind) else { continue }
            admit(descriptor, address)
        }
    }

    /// The adapter on which the service is on the air.
    var adapter: KernelAdapter? { onAir?.adapter }
    var adapterIndex: ManagementCommand.Index? { onAir?.adapter.index }
    nonisolated var bonds: Bonds { radio.bonds }
}

extension Duration {
    var dispatched: DispatchTimeInterval {
        .milliseconds(Int(clamping: wholeMilliseconds))
    }
}
