/// The state of a proximity login, with the numbers of both client libraries (MAG 8.6).
public enum ProximityState: Int, Sendable, CaseIterable {
    case unknown = -1
    case scanStarted, scanStopped, deviceDetected, deviceConnected, deviceDisconnected, serviceDiscovered
    case characteristicFound, characteristicWritten, authorizationSucceeded, authorizationFailed
    case centralConnected, centralDisconnected, sharingStarted, sharingStopped, sessionAuthorized, sessionNotified

    /// The number of the first reference client, which has none for ``unknown``.
    public var androidNumber: Int? { self == .unknown ? nil : rawValue }
    /// The number of the second reference client. In it 10 and 11 mean a subscription, in the first client a
    /// connection.
    public var iosNumber: Int { rawValue }
}
