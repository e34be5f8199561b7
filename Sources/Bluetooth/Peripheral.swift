/// One central connected to this board, for as long as it is connected.
public struct CentralID: Sendable, Hashable, CustomStringConvertible {
    public let address: BluetoothAddress
    /// Another one for every connection.
    public let number: Int

    public init(address: BluetoothAddress, number: Int) {
        self.address = address
        self.number = number
    }

    public var description: String { "\(address)#\(number)" }
}

/// How a central wants to be sent values.
public enum SubscriptionMode: Sendable, Equatable { case notify, indicate }

/// What happens to a service on the air.
public enum PeripheralEvent: Sendable, Equatable {
    /// The service is registered and advertised, for the first time or again.
    case started
    /// The adapter or bluetoothd went, or advertising failed. The transport resumes by itself: ``started`` follows.
    case interrupted(BluetoothError)
    case connected(CentralID)
    case disconnected(CentralID)
    case written(CentralID, characteristic: BluetoothUUID, value: [UInt8])
    case subscribed(CentralID, characteristic: BluetoothUUID, SubscriptionMode)
    case unsubscribed(CentralID, characteristic: BluetoothUUID)
}

/// A service on the air, until ``stop()``.
public protocol Peripheral: Sendable {
    /// For one reader. Bounded: a central that causes more than is read is disconnected.
    var events: AsyncStream<PeripheralEvent> { get }

    /// Sends a value in the mode the central enabled; an indication returns with its confirmation. A central that enabled
    /// nothing is sent a notification.
    ///
    /// - Parameter sparing: asked for the centrals that must not be hung up for it, where a value can only be sent to all: it is
    ///   not sent then.
    /// - Throws: ``BluetoothError/tooLong`` above MTU - 3 bytes, ``BluetoothError/disconnected``,
    ///   ``BluetoothError/timedOut(operation:)``, ``BluetoothError/failed(operation:reason:)``
    func notify(
        _ value: [UInt8], to central: CentralID, characteristic: BluetoothUUID,
        sparing: @escaping @Sendable () async -> Set<CentralID>
    ) async throws(BluetoothError)

    /// Keeps the bond of a central that a person has let in; others' are forgotten when they leave.
    func keep(_ central: CentralID) async

    /// Hangs up.
    func disconnect(_ central: CentralID) async

    /// Withdraws advertising, closes the connections and removes the service. Ends ``events``.
    func stop() async
}

extension Peripheral {
    /// Where bonds are kept anyhow, or none are made.
    public func keep(_ central: CentralID) async {}

    /// Sends a value, whoever has to be hung up for it.
    public func notify(_ value: [UInt8], to central: CentralID, characteristic: BluetoothUUID)
        async throws(BluetoothError)
    {
        try await notify(value, to: central, characteristic: characteristic, sparing: { [] })
    }
}
