/// An error in the terms of the gateway's protocol: the gateway's answer, and the number that the public clients use
/// (MAG 13.3 and 13.4).
public struct GatewayNumbers: Sendable, Equatable {
    /// Where the error was found (MAG 13.3).
    public enum Domain: String, Sendable, CaseIterable {
        /// An endpoint of the gateway itself; the number is that of `x-ca-err`.
        case endpoint
        /// The client; the number is one of MAG 13.4.
        case local
        /// An API that was called through the gateway; the number is that of `x-ca-err`.
        case targetAPI = "target-api"
        /// The client, during a login with a nearby device; the number is one of MAG 8.6.
        case proximityLocal = "proximity-local"
        /// What is stored under keys, here or at the gateway; the number is one of MAG 11.
        case storage
        /// The client, on messages at the broker; the number is one of MAG 9.5.
        case messaging

        /// Whether the number is from the public clients, not from a gateway.
        public var isOfClient: Bool {
            switch self {
            case .local, .proximityLocal, .storage, .messaging: true
            case .endpoint, .targetAPI: false
            }
        }
    }

    public let domain: Domain
    public let number: Int
    /// The whole number of the gateway's `x-ca-err` header.
    public let caError: Int?
    /// The HTTP status of the gateway's answer.
    public let httpStatus: Int?

    public init(_ domain: Domain, _ number: Int, caError: Int? = nil, httpStatus: Int? = nil) {
        self.domain = domain
        self.number = number
        self.caError = caError
        self.httpStatus = httpStatus
    }

    /// A number of MAG 13.4.
    public static func local(_ number: Int, httpStatus: Int? = nil) -> GatewayNumbers {
        GatewayNumbers(.local, number, httpStatus: httpStatus)
    }

    public var json: JSON {
        var members: [String: JSON] = ["domain": .string(domain.rawValue), "number": .integer(Int64(number))]
        members["xCaErr"] = caError.map { .integer(Int64($0)) }
        members["httpStatus"] = httpStatus.map { .integer(Int64($0)) }
        return .object(members)
    }

    /// Parses ``json``.
    init?(_ json: JSON) {
        guard let domain = json["domain"]?.string.flatMap(Domain.init), let number = json["number"]?.integer
        else { return nil }
        self.init(
            domain, Int(number), caError: json["xCaErr"]?.integer.map { Int($0) },
            httpStatus: json["httpStatus"]?.integer.map { Int($0) })
    }
}
