import Bluetooth
import Groundwork

/// The devices seen while scanning, and how near each one is.
///
/// The signal of a single advertisement is unreliable: it comes on one of three channels, with different reflections.
/// The median of the last few counts.
struct SignalBoard {
    struct Device: Equatable {
        let address: BluetoothAddress
        var name: String?
        /// dBm; ``SignalBoard/unknown`` if the adapter does not report it.
        let signal: Int
    }

    /// The value that controllers report if they do not know (Bluetooth Core 5.4, Vol 4 Part E 7.7.65.2). It counts as
    /// near enough, because the signal only helps to choose and consent decides, but is ordered after every known
    /// signal.
    static let unknown = 127

    /// The maximum number of remembered devices; more than are expected around one board.
    static let deviceLimit = 64
    /// The number of sightings for the median.
    static let depth = 5

    private struct Track {
        var name: String?
        var recent: [Int] = []
        var order: Int
    }

    private let least: Int
    private var tracks: [BluetoothAddress: Track] = [:]

    /// - Parameter least: the weakest signal that is near enough, in dBm, inclusive (MAG 8.3).
    init(least: Int) { self.least = least }

    enum Outcome: Equatable {
        /// The device is near enough for the first time.
        case near(Device)
        /// The device is seen for the first time, and too far away.
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

    /// The devices that are near enough, the nearest first; of equal ones the one seen first.
    var nearest: [Device] {
        tracks.map { (device: Device(address: $0, name: $1.name, signal: Self.signal($1)), order: $1.order) }
            .filter { isNear($0.device.signal) }
            .sorted { (Self.rank($1.device), $0.order) < (Self.rank($0.device), $1.order) }
            .map(\.device)
    }

    private func isNear(_ signal: Int) -> Bool { signal == Self.unknown || signal >= least }
    private static func signal(_ track: Track) -> Int { track.recent.isEmpty ? unknown : median(track.recent) }
    private static func rank(_ device: Device) -> Int { device.signal == unknown ? .min : device.signal }

    /// For an even count the lower middle value: in doubt, a device is farther away.
    static func median(_ values: [Int]) -> Int {
        values.isEmpty ? Int.min : values.sorted()[(values.count - 1) / 2]
    }
}
