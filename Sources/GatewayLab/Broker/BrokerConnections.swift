import Foundation

/// The connections that the broker has, by the numbers that its plugin gives them.
///
/// A client id may have two for a moment: one that is taken over ends after the new one has come (MQTT 3.1.1 section
/// 3.1.4).
struct BrokerConnections {
    private struct Connection {
        var clientID: String
        var since: Date
    }

    enum Ending: Equatable {
        /// The client is no longer connected.
        case left
        /// The client has a later connection.
        case takenOver
        /// It was refused, or is unknown.
        case unknown
    }

    private var byNumber: [UInt64: Connection] = [:]

    /// Connected client ids, with the time at which they connected.
    var sessions: [String: Date] {
        Dictionary(byNumber.values.map { ($0.clientID, $0.since) }, uniquingKeysWith: max)
    }

    mutating func add(_ number: UInt64, of clientID: String, at time: Date) {
        byNumber[number] = Connection(clientID: clientID, since: time)
    }

    mutating func remove(_ number: UInt64) -> Ending {
        guard let ended = byNumber.removeValue(forKey: number) else { return .unknown }
        return byNumber.values.contains { $0.clientID == ended.clientID } ? .takenOver : .left
    }
}
