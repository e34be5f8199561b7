/// Where a receiver is, in degrees by WGS 84.
public struct GPSFix: Sendable, Equatable {
    /// North is positive.
    public let latitude: Double
    /// East is positive.
    public let longitude: Double
}
