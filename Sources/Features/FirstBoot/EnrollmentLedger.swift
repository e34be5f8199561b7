import AgentCore
import Cryptography
import Groundwork

/// Which enrollments this board has taken or found useless, by their hashes: none of them is used twice. Pure.
struct EnrollmentLedger: Equatable {
    /// The most that are remembered, the newest.
    static let limit = 8

    enum Outcome: Equatable {
        case taken
        /// With the reason, for people.
        case refused(String)
    }

    private struct Entry: Equatable {
        let hash: String
        let outcome: Outcome
    }

    private var entries: [Entry] = []

    init() {}

    /// - Parameter bytes: of the record. Bytes that are not a ledger count as none: it only prevents repetitions.
    init(parsing bytes: [UInt8]) {
        for entry in (try? JSON(parsing: bytes))?["enrollments"]?.array ?? [] {
            guard let hash = entry["sha256"]?.string else { continue }
            entries.append(Entry(hash: hash, outcome: entry["refused"]?.string.map(Outcome.refused) ?? .taken))
        }
    }

    static func hash(of content: [UInt8]) -> String { Hex.encode(SHA256.hash(content)) }

    /// What became of the enrollment with this hash; `nil` if it is new.
    subscript(hash: String) -> Outcome? { entries.last { $0.hash == hash }?.outcome }

    func adding(_ hash: String, _ outcome: Outcome) -> EnrollmentLedger {
        var ledger = self
        ledger.entries = Array(
            (entries.filter { $0.hash != hash } + [Entry(hash: hash, outcome: outcome)]).suffix(Self.limit))
        return ledger
    }

    var bytes: [UInt8] {
        JSON.object([
            "enrollments": .array(
                entries.map { entry in
                    var members: [String: JSON] = ["sha256": .string(entry.hash)]
                    if case .refused(let reason) = entry.outcome { members["refused"] = .string(reason) }
                    return .object(members)
                })
        ]).bytes
    }
}
