import Groundwork

/// Why a call that demands a location did not get it.
public enum LocationLack: Sendable, Equatable, CaseIterable {
    /// The settings do not disclose where the board is.
    case off
    /// The gateway's configuration says that locations are not sent.
    case notEnabled
    /// Where the board is could not be found out.
    case noFix

    /// The numbers are those of MAG 6.5: unauthorized, missing, and invalid.
    var explanation: Explanation {
        switch self {
        case .off:
            Explanation(
                "gateway.location-off", .configuration,
                "the called API demands a location, but the settings of this board provide none",
                remedy: "set location.source, if the API may know the board's location", gateway: .local(100_303))
        case .notEnabled:
            Explanation(
                "gateway.location-not-enabled", .configuration,
                "the called API demands a location, but the gateway's configuration does not allow sending it",
                remedy: "ask the gateway's administrator for a configuration with location_enabled, and enroll with it",
                gateway: .local(100_302))
        case .noFix:
            Explanation(
                "gateway.location-unknown", .temporary,
                "the called API demands a location, but this board cannot determine its location",
                remedy: "latchkey location says why", gateway: .local(100_301))
        }
    }
}
