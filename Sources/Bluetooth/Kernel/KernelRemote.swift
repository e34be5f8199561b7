import CBluetooth
import Dispatch
import Glibc

/// A connection to a peripheral over the kernel's ATT channel, this board being the central.
///
/// Packets keep the size that every device supports: a larger MTU is not requested (MAG 8.2).
actor KernelRemote: RemotePeripheral {
    /// The most values that wait for their reader; a peripheral that sends more is disconnected.
    private static let bound = 256

    private typealias Answer = Result<GATTOperation.Outcome, BluetoothError>

    nonisolated let queue: BluetoothQueue
    nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }
    nonisolated let values: AsyncStream<RemoteValue>
    private nonisolated let continuation: AsyncStream<RemoteValue>.Continuation
    /// The peripheral's identity address, once it has revealed it.
    private var address: BluetoothAddress
    private let management: ManagementSocket
    private let adapter: KernelAdapter
    private let bonds: Bonds
    private var securing = Securing.untried
    /// The request whose answer is outstanding.
    private var request: [UInt8] = []
    private var client: GATTClient
    private var channel: ATTChannel?

    /// Whether the peripheral asked for an encrypted link.
    private enum Securing {
        case untried, underWay, done
        /// Encryption failed, and would fail again with the present keys: they are dropped with the connection.
        case failed
    }
    private var ticketCount = 0
    private var tickets: [Int: CheckedContinuation<Answer, Never>] = [:]
    /// Tickets of writes that are done except for packets still waiting to be sent.
    private var unsent: [Int] = []

    /// - Throws: ``BluetoothError/timedOut(operation:)`` if no device answers at the address
    static func connect(
        to address: BluetoothAddress, timeout: Duration, by radio: KernelRadio, queue: BluetoothQueue
    ) async throws(BluetoothError) -> KernelRemote {
        let management = try ManagementSocket(queue: queue, interest: .pairing)
        let operation = "connect to \(address)"
        do throws(BluetoothError) {
            let adapter = try await management.ready(radio, mayPower: true)
            let descriptor = try ATTChannel.socket(of: adapter, operation: operation)
            let status = latchkey_att_connect(descriptor.number, address.kernelBytes, address.kernelKind)
            guard status == 0 || status == -EINPROGRESS else { throw .system(operation, -status) }
            if let error = await ConnectionAttempt(descriptor, queue, operation).outcome(within: timeout) {
                throw error
            }
            let remote = KernelRemote(address, management, adapter, radio.bonds, queue)
            await remote.open(descriptor)
            return remote
        } catch {
            await management.close()
            throw error
        }
    }

    private init(
        _ address: BluetoothAddress, _ management: ManagementSocket, _ adapter: KernelAdapter, _ bonds: Bonds,
        _ queue: BluetoothQueue
    ) {
        (self.address, self.management, self.adapter, self.bonds, self.queue) = (
            address, management, adapter, bonds, queue
        )
        (values, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.bound))
        client = GATTClient(peer: CentralID(address: address, number: 0), deviceName: "")
    }

    private func open(_ descriptor: Descriptor) {
        Task { [weak self, management] in for await message in management.news { await self?.notice(message) } }
        channel = ATTChannel(descriptor, on: queue) { [weak self] in
            self?.assumeIsolated { $0.receive() }
        } writable: { [weak self] in
            self?.assumeIsolated { $0.flush() }
        }
    }

    // MARK: Packets

    private func receive() {
        // A few at a time, because others use the queue too.
        for _ in 0..<16 {
            guard let channel, !channel.isCongested else { return }
            switch channel.read() {
            case .nothing: return
            case .ended: return end(lost)
            case .bytes(let packet): if !handlesSecurityRefusal(packet) { perform(client.receive(packet, now: .now)) }
            }
        }
    }

    private func flush() {
        guard let channel else { return }
        guard channel.flush() else { return end(lost) }
        guard !channel.isCongested else { return }
        for ticket in unsent { redeem(ticket, .success(.written)) }
        unsent = []
        if securing == .underWay { securing = .done }
    }

    /// Why the connection is gone: a peripheral that refuses to pair, or has lost the bond, ends it instead of
    /// encrypting.
    private var lost: BluetoothError { securing == .underWay ? Self.unpaired : .disconnected }

    private static let unpaired = BluetoothError.att(.insufficientAuthentication, operation: "encrypt the connection")

    // MARK: Security

    /// Handles the first refusal for lack of security instead of passing it on: encrypts the link, by pairing if
    /// there is no key yet, and repeats the request.
    private func handlesSecurityRefusal(_ packet: [UInt8]) -> Bool {
        guard packet.count == 5, packet[0] == ATTOpcode.errorResponse.rawValue, packet[1] == request.first,
            [.insufficientAuthentication, .insufficientEncryption].contains(ATTErrorCode(rawValue: packet[4]))
        else { return false }
        guard securing == .untried else {
            securing = .failed
            return false
        }
        securing = .underWay
        Task {
            do throws(BluetoothError) {
                guard let now = try await management.adapter(at: adapter.index) else {
                    throw .noAdapter(name: adapter.name)
                }
                try await management.allowPairing(now, bonds)
                guard channel?.secure(thenSend: request) == true else { throw .disconnected }
            } catch {
                securing = .failed
                perform(client.receive(packet, now: .now))
            }
        }
        return true
    }

    private func notice(_ message: ManagementMessage) async {
        guard message.index == adapter.index else { return }
        switch message.event {
        case .confirmation(address): _ = try? await management.send(.confirm(adapter.index, address))
        case .identity(let identity, from: address): address = identity
        case .longTermKey(address, let key): await management.keep(key, of: address, on: adapter, in: bonds)
        case .pairingFailed(address) where securing == .underWay:
            securing = .failed
            end(Self.unpaired)
        case .answer, .adapterAdded, .adapterRemoved, .settings, .connected, .disconnected, .found, .discovering,
            .advertisingRemoved, .confirmation, .longTermKey, .identity, .pairingFailed, .other:
            break
        }
    }

    private func perform(_ effects: [GATTClient.Effect]) {
        for effect in effects {
            switch effect {
            case .send(let packet):
                if ATTOpcode(rawValue: packet.first ?? 0)?.role == .request { request = packet }
                if channel?.send(packet) == false { end(.disconnected) }
            case .finished(let ticket, .written) where channel?.isCongested == true: unsent.append(ticket)
            case .finished(let ticket, let outcome): redeem(ticket, .success(outcome))
            case .failed(let ticket, let error): redeem(ticket, .failure(error))
            case .value(let value): if case .dropped = continuation.yield(value) { end(.disconnected) }
            case .close(let error): end(error)
            }
        }
        guard let deadline = client.deadline else { return }
        queue.queue.asyncAfter(deadline: .now() + ContinuousClock.now.duration(to: deadline).dispatched) {
            [weak self] in
            self?.assumeIsolated { $0.perform($0.client.advance(to: .now)) }
        }
    }

    private func redeem(_ ticket: Int, _ answer: Answer) {
        tickets.removeValue(forKey: ticket)?.resume(returning: answer)
    }

    /// Ends the link too: without a channel it would stay up for some seconds.
    private func end(_ error: BluetoothError) {
        guard let was = channel else { return }
        channel = nil
        was.close()
        _ = client.end(error)
        for ticket in Array(tickets.keys) { redeem(ticket, .failure(error)) }
        unsent = []
        continuation.finish()
        // A bond that the other device has lost only prevents pairing again.
        let isUseless = securing == .underWay || securing == .failed
        ending = Task {
            if isUseless {
                bonds.remove(address, on: adapter.information.identity)
                _ = try? await management.send(.unpair(adapter.index, address, hangingUp: false))
            }
            _ = try? await management.send(.disconnect(adapter.index, address))
            await management.close()
        }
    }

    private var ending: Task<Void, Never>?

    // MARK: Operations

    private func outcome(of operation: GATTOperation) async throws(BluetoothError) -> GATTOperation.Outcome {
        guard channel != nil else { throw .disconnected }
        ticketCount += 1
        let ticket = ticketCount
        let answer = await withCheckedContinuation { continuation in
            tickets[ticket] = continuation
            perform(client.start(operation, ticket: ticket, now: .now))
        }
        return try answer.get()
    }

    func discover(service: BluetoothUUID, characteristic: BluetoothUUID) async throws(BluetoothError)
        -> RemoteCharacteristic?
    {
        guard
            case .characteristic(let found) = try await outcome(
                of: .discover(service: service, characteristic: characteristic))
        else { return nil }
        return found
    }

    func subscribe(_ characteristic: RemoteCharacteristic) async throws(BluetoothError) -> Bool {
        try await outcome(of: .subscribe(characteristic)) == .subscribed(true)
    }

    func write(_ value: [UInt8], to characteristic: RemoteCharacteristic, withResponse: Bool)
        async throws(BluetoothError)
    {
        _ = try await outcome(of: .write(value, characteristic, withResponse: withResponse))
    }

    var mtu: Int { client.mtu }

    /// Returns when the link is down.
    func close() async {
        end(.disconnected)
        await ending?.value
    }
}
