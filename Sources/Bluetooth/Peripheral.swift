/// One central connected to this board, while it is connected.
public struct CentralID: Sendable, Hashable, CustomStringConvertible {
    public let address: BluetoothAddress
    /// Unique for every connection.
    public let number: Int

    public init(address: BluetoothAddress, number: Int) {
        self.address = address
        self.number = number
    }

    public var description: String { "\(address)#\(number)" }
}

/// The mode in which a central wants to receive values.
public enum SubscriptionMode: Sendable, Equatable { case notify, indicate }

/// An event of a service on the air.
public enum PeripheralEvent: Sendable, Equatable {
    /// The service is registered and advertised, for the first time or again.
    case started
    /// The adapter or bluetoothd is gone, or advertising failed. The transport resumes by itself: ``started`` follows.
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

    /// Sends a value in the mode that the central enabled; with an indication, returns after its confirmation. A
    /// central that enabled nothing is sent a notification.
    ///
    /// - Parameter sparing: returns the centrals that must not be disconnected for it. Called by transports that can
    ///   only send to all; if one of these is subscribed, the value is not sent.
    /// - Throws: ``BluetoothError/tooLong`` above MTU - 3 bytes, ``BluetoothError/disconnected``,
    ///   ``BluetoothError/timedOut(operation:)``, ``BluetoothError/failed(operation:reason:)``
    func notify(
        _ value: [UInt8], to central: CentralID, characteristic: BluetoothUUID,
        sparing: @escaping @Sendable () async -> Set<CentralID>
    ) async throws(BluetoothError)

    /// Keeps the bond of a central that a person has admitted; other bonds are removed when the central disconnects.
    func keep(_ central: CentralID) async

    /// Disconnects a central.
    func disconnect(_ central: CentralID) async

    /// Withdraws advertising, closes the connections and removes the service. Ends ``events``.
    func stop() async
}

extension Peripheral {
    /// Does nothing: for transports that keep all bonds, or make none.
    public func keep(_ central: CentralID) async {}

    /// Sends a value, even if all other centrals have to be disconnected for it.
    public func notify(_ value: [UInt8], to central: CentralID, characteristic: BluetoothUUID)
        async throws(BluetoothError)
    {
        try await notify(value, to: central, characteristic: characteristic, sparing: { [] })
    }
}
