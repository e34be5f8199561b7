import FoundationEssentials
import Glibc
import Groundwork
import HTTPClient
import OAuth
import Synchronization

/// Sends requests to servers, and none to an address before the time at which its server wants to be asked again (RFC
/// 9110 section 10.2.3), for every server.
struct ServerClient: Sendable {
    let http: HTTPClient
    let clock: @Sendable () -> Date
    private let pauses = Pauses()

    init(_ http: HTTPClient, clock: @escaping @Sendable () -> Date) { (self.http, self.clock) = (http, clock) }

    /// - Throws: ``OAuthAccountError/notYet(endpoint:until:)`` if the server wants no request now, and what HTTP throws
    func send(_ request: HTTPRequest, to endpoint: String) async throws -> HTTPResponse {
        let left = pauses.left(request.url)
        guard left <= 0 else { throw notYet(endpoint, left) }
        let response = try await http.send(request)
        guard let seconds = Self.pause(after: response, now: clock()) else { return response }
        pauses.begin(request.url, seconds)
        // A refusal says more.
        guard OAuthRefusals().refusal(in: response) == nil else { return response }
        throw notYet(endpoint, seconds)
    }

    /// How long nothing is sent to an address, in seconds; 0 or less if it may be asked now.
    func left(_ address: String) -> TimeInterval { pauses.left(address) }

    private func notYet(_ endpoint: String, _ seconds: TimeInterval) -> OAuthAccountError {
        .notYet(endpoint: endpoint, until: clock() + seconds)
    }

    /// The longest pause, in seconds: an hour.
    static let limit: TimeInterval = 3600

    /// - Returns: `nil` if the server may be asked at once.
    static func pause(after response: HTTPResponse, now: Date) -> TimeInterval? {
        guard [429, 503].contains(response.status), let text = response.headers.first("Retry-After"),
            text.utf8.count <= 64
        else { return nil }
        let seconds = TimeInterval(text) ?? date(text).map { $0.timeIntervalSince(now) }
        guard let seconds, seconds.isFinite, seconds > 0 else { return nil }
        return min(seconds, limit)
    }

    /// The only form in which dates are sent (RFC 9110 section 5.6.7).
    private static func date(_ text: String) -> Date? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let day = Int32(words[1]),
            let month = months.firstIndex(of: words[2]),
            let year = Int32(words[3])
        else { return nil }
        let time = words[4].split(separator: ":").compactMap { Int32($0) }
        guard (1...31).contains(day), (1970...9999).contains(year), time.count == 3,
            time.allSatisfy({ (0...60).contains($0) })
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, Int32(month), day)
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (time[0], time[1], time[2])
        return Date(timeIntervalSince1970: TimeInterval(timegm(&parts)))
    }

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

/// Until when nothing is sent to an address.
private final class Pauses: Sendable {
    private let ends = Mutex<[String: ContinuousClock.Instant]>([:])

    func begin(_ address: String, _ seconds: TimeInterval) {
        let now = ContinuousClock.now
        ends.withLock {
            $0 = $0.filter { $0.value > now }
            $0[address] = now + .seconds(seconds)
        }
    }

    func left(_ address: String) -> TimeInterval {
        ends.withLock { $0[address] }.map { ($0 - ContinuousClock.now).inSeconds } ?? 0
    }
}
