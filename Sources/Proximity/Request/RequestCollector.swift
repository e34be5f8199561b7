/// Collects the pieces of one request from one central, with limits for size, count and time.
///
/// It collects bytes instead of characters, because a piece may end inside a character. Every write except the end mark
/// is a piece (MAG 8.2).
public struct RequestCollector: Sendable {
    /// The maximum size of a request, in bytes.
    public static let limit = 8192
    /// The maximum number of pieces: more than the longest request has with pieces of 20 bytes.
    static let pieceLimit = 1024

    public enum Outcome: Sendable, Equatable {
        case incomplete
        case request(ProximityRequest)
        case refused(RequestRefusal)
    }

    /// When the request must be complete; `nil` before its first piece.
    public private(set) var deadline: Duration?
    private let allowance: Duration
    private var bytes: [UInt8] = []
    private var count = 0

    /// - Parameter allowance: the maximum time from the first piece to the end mark.
    public init(allowance: Duration = .seconds(30)) { self.allowance = allowance }

    /// Takes one write. After any outcome but ``Outcome/incomplete`` the collector is empty again.
    public mutating func receive(_ piece: [UInt8], now: Duration) -> Outcome {
        if deadline == nil { deadline = now + allowance }
        if isLate(at: now) { return finish(.refused(.tooSlow)) }
        guard piece != ProximityRequest.endMark else {
            do throws(ProximityError) {
                return finish(.request(try ProximityRequest(parsing: bytes)))
            } catch {
                if case .requestRefused(let refusal) = error { return finish(.refused(refusal)) }
                return finish(.refused(.notJSON))
            }
        }
        count += 1
        guard bytes.count + piece.count <= Self.limit, count <= Self.pieceLimit else {
            return finish(.refused(.tooLong))
        }
        bytes += piece
        return .incomplete
    }

    public func isLate(at now: Duration) -> Bool { deadline.map { now >= $0 } ?? false }

    private mutating func finish(_ outcome: Outcome) -> Outcome {
        self = RequestCollector(allowance: allowance)
        return outcome
    }
}
