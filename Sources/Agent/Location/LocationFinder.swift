import Board
import Gateway
import Groundwork

/// Finds out where the board is, as the settings say: it is fixed, or gpsd knows.
///
/// gpsd is asked only when a location is needed. What it said is used for a while, and forgotten then.
actor LocationFinder {
    enum Source: String, Sendable, CaseIterable {
        /// Nobody may know where the board is.
        case off = "none"
        /// The settings say where it is.
        case fixed
        case gpsd
    }

    struct Found: Sendable {
        let location: Location
        /// How long ago it was found; `nil` if the settings say it.
        let age: Duration?
    }

    /// How long a call waits that could do without a location.
    private static let briefly = Duration.seconds(2)
    /// After a failure, for how long calls that could do without a location do not wait for one.
    private static let rest = Duration.seconds(60)

    nonisolated let source: Source
    private let fixed: Location?
    private let client: GPSDClient?
    private let maxAge: Duration
    private let patience: Duration
    private var latest: (location: Location, at: ContinuousClock.Instant)?
    private var failedAt: ContinuousClock.Instant?
    /// The question to gpsd that is under way, which all that need a location share.
    private var question: Task<Location, any Error>?

    init(_ configuration: AgentConfiguration) {
        source = Source(rawValue: configuration[LocationFeature.source]) ?? .off
        fixed = Location(
            latitude: configuration[LocationFeature.latitude], longitude: configuration[LocationFeature.longitude])
        client = GPSDAddress(configuration[LocationFeature.gpsd]).map(GPSDClient.init)
        maxAge = .seconds(configuration[LocationFeature.maxAgeSeconds])
        patience = .seconds(configuration[LocationFeature.waitSeconds])
    }

    /// What calls may say of the board.
    nonisolated func whereabouts(telephoneNumber: String) -> Whereabouts {
        var whereabouts = Whereabouts(telephoneNumber: telephoneNumber.isEmpty ? nil : telephoneNumber)
        if source != .off { whereabouts.locate = { isDemanded in await self.locate(isDemanded: isDemanded) } }
        return whereabouts
    }

    private func locate(isDemanded: Bool) async -> Location? {
        if !isDemanded, known == nil, let failedAt, failedAt.duration(to: .now) < Self.rest { return nil }
        return try? await find(within: isDemanded ? patience : Self.briefly).location
    }

    /// Where the board is, if that is known without asking anybody.
    var known: Found? {
        switch source {
        case .off: return nil
        case .fixed: return fixed.map { Found(location: $0, age: nil) }
        case .gpsd:
            guard let latest else { return nil }
            let age = latest.at.duration(to: .now)
            guard age < maxAge else {
                self.latest = nil
                return nil
            }
            return Found(location: latest.location, age: age)
        }
    }

    /// - Parameter limit: how long to wait for it; without it, as long as the settings say.
    /// - Throws: `GatewayError.locationUnavailable`, ``BoardError``, `CancellationError`
    func find(within limit: Duration? = nil) async throws -> Found {
        if let known { return known }
        guard let client, source == .gpsd else { throw GatewayError.locationUnavailable(.off) }
        if let question, let location = try? await question.value { return Found(location: location, age: .zero) }
        let asking = Task {
            let fix = try await client.fix(within: limit ?? patience)
            guard let location = Location(latitude: fix.latitude, longitude: fix.longitude) else {
                throw GatewayError.locationUnavailable(.noFix)
            }
            return location
        }
        question = asking
        defer { if question == asking { question = nil } }
        do {
            let location = try await asking.value
            (latest, failedAt) = ((location, .now), nil)
            return Found(location: location, age: .zero)
        } catch {
            failedAt = .now
            throw error
        }
    }
}
