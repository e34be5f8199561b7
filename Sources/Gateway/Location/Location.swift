/// A place on Earth, by WGS 84.
///
/// Its description does not say where it is: it must not get into a log.
public struct Location: Sendable, Equatable, CustomStringConvertible {
    /// In degrees, north is positive.
    public let latitude: Double
    /// In degrees, east is positive.
    public let longitude: Double

    /// `nil` unless the latitude is within 90 degrees and the longitude within 180.
    public init?(latitude: Double, longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        (self.latitude, self.longitude) = (latitude, longitude)
    }

    public var description: String { "a location" }

    /// The value of `geo-location`: degrees with six decimals, and a dot whatever the locale (MAG checklist 29).
    public var header: String { Self.degrees(latitude) + "," + Self.degrees(longitude) }

    private static func degrees(_ value: Double) -> String {
        let millionths = Int((value.magnitude * 1e6).rounded())
        let fraction = String(millionths % 1_000_000)
        return (value < 0 && millionths > 0 ? "-" : "") + String(millionths / 1_000_000) + "."
            + String(repeating: "0", count: 6 - fraction.count) + fraction
    }
}
