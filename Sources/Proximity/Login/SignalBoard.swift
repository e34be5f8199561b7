import Bluetooth
import Groundwork

/// Who was seen while scanning, and how near each one is.
///
/// One advertisement says little: it is heard on one of three channels, by way of this wall or that. The median of the
/// last few is what counts.
struct SignalBoard {
    struct Device: Equatable {
        let address: BluetoothAddress
        var name: String?
        /// dBm; ``SignalBoard/unknown`` where the adapter does not tell.
        let signal: Int
    }

    /// What controllers report when they do not know (Bluetooth Core 5.4, Vol 4 Part E 7.7.65.2). It counts as near enough,
    /// as the signal only helps to choose and consent is what decides, but comes after every signal that is known.
    static let unknown = 127

    /// The most devices remembered; more than stand around one board.
    static let deviceLimit = 64
    /// The sightings that make the median.
    static let depth = 5

    private struct Track {
        var name: String?
        var recent: [Int] = []
        var order: Int
    }

    private let least: Int
    private var tracks: [BluetoothAddress: Track] = [:]

    /// - Parameter least: the weakest signal that counts, in dBm; it is enough to reach it (MAG 8.3).
    init(least: Int) { self.least = least }

    enum Outcome: Equatable {
        /// It has just come near enough, for the first time.
        case near(Device)
        /// It is seen for the first time, and too far away.
        case far(Device)
        case known
    }

    mutating func see(_ sighting: Sighting) -> Outcome {
        guard tracks[sighting.address] != nil || tracks.count < Self.deviceLimit else { return .known }
        let before = tracks[sighting.address]
        var track = before ?? Track(order: tracks.count)
        if let name = sighting.name.map(DisplayText.clean), !name.isEmpty { track.name = name }
        if sighting.rssi < Self.unknown { track.recent = track.recent.suffix(Self.depth - 1) + [sighting.rssi] }
        tracks[sighting.address] = track
        let device = Device(address: sighting.address, name: track.name, signal: Self.signal(track))
        let wasNear = before.map { isNear(Self.signal($0)) } ?? false
        if isNear(device.signal) { return wasNear ? .known : .near(device) }
        return before == nil ? .far(device) : .known
    }

    /// Those that are near enough, the nearest first; of equals the one seen first.
    var nearest: [Device] {
        tracks.map { (device: Device(address: $0, name: $1.name, signal: Self.signal($1)), order: $1.order) }
            .filter { isNear($0.device.signal) }
            .sorted { (Self.rank($1.device), $0.order) < (Self.rank($0.device), $1.order) }
            .map(\.device)
    }

    private func isNear(_ signal: Int) -> Bool { signal == Self.unknown || signal >= least }
    private static func signal(_ track: Track) -> Int { track.recent.isEmpty ? unknown : median(track.recent) }
    private static func rank(_ device: Device) -> Int { device.signal == unknown ? .min : device.signal }

    /// Of an even count the lower one: who is in doubt is farther away.
    static func median(_ values: [Int]) -> Int {
        values.isEmpty ? Int.min : values.sorted()[(values.count - 1) / 2]
    }
}
