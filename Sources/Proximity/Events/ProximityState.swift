/// Where a proximity login stands, with the numbers that both client libraries give it (MAG 8.6).
public enum ProximityState: Int, Sendable, CaseIterable {
    case unknown = -1
    case scanStarted, scanStopped, deviceDetected, deviceConnected, deviceDisconnected, serviceDiscovered
    case characteristicFound, characteristicWritten, authorizationSucceeded, authorizationFailed
    case centralConnected, centralDisconnected, sharingStarted, sharingStopped, sessionAuthorized, sessionNotified

    /// The number of the first reference client, which has none for ``unknown``.
    public var androidNumber: Int? { self == .unknown ? nil : rawValue }
    /// The number of the second reference client. 10 and 11 are a subscription there, a connection in the first.
    public var iosNumber: Int { rawValue }
}
