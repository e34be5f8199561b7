import Gateway
import Groundwork
public import HTTPClient

/// A request to a service of the gateway; whoever sends it adds the credentials.
public struct ServiceRequest: Sendable, Equatable {
    public var method: String
    /// A path below the gateway with its query, or an absolute URL if the configuration has one.
    public var path: String
    public var headers: HTTPHeaders = [:]
    public var body: [UInt8]?
    /// Whether only a user's token will do. Otherwise a logged-in user's is used, else the board's own (MAG 6.2).
    public var needsUser = false

    public init(_ method: String, _ path: String, headers: HTTPHeaders = [:], body: [UInt8]? = nil) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
    }
}

/// What a service was asked to do, for error messages.
public enum ServiceOperation: String, Sendable, Equatable, CaseIterable {
    case readUsers = "read users"
    case readGroups = "read groups"
    case createGroup = "create the group"
    case changeGroup = "change the group"
    case deleteGroup = "delete the group"
    case readSchema = "read the schema"
    case listDevices = "list the devices"
    case readMetadata = "read the metadata of the device"
    case setMetadata = "set the metadata of the device"
    case deleteMetadata = "delete the metadata of the device"
    case listItems = "list what is stored at the gateway"
    case readItem = "read what is stored at the gateway"
    case saveItem = "store at the gateway"
    case deleteItem = "delete what is stored at the gateway"
    case listApps = "list the enterprise applications"
    case fetchIcon = "fetch the icon"
    case openApp = "open the application"
}

/// Sends requests to services and reads their answers within bounds.
public struct ServiceClient: Sendable {
    public typealias Send = @Sendable (ServiceRequest) async throws -> HTTPResponse

    /// The largest answer that is read as JSON, in bytes: 4 MiB, for lists of users with pictures.
    static let answerLimit = 4 << 20

    private let send: Send

    public init(send: @escaping Send) { self.send = send }

    /// Calls in the name of the session's user if one is logged in or needed, else of the board. While the user's
    /// session is locked they are refused.
    public init(of session: GatewaySession) {
        send = { request in
            try await session.requireUnlocked()
            let user = request.needsUser ? true : try await session.user() != nil
            return try await session.call(
                method: request.method, path: request.path, headers: request.headers, body: request.body,
                as: user ? .user : .board)
        }
    }

    /// - Returns: the answer, whatever its status.
    func answer(_ request: ServiceRequest) async throws -> HTTPResponse { try await send(request) }

    /// - Throws: ``ServiceError`` unless the status is a success.
    @discardableResult
    func succeed(_ request: ServiceRequest, _ operation: ServiceOperation) async throws -> HTTPResponse {
        let response = try await send(request)
        guard response.isSuccess else { throw ServiceError(response, operation) }
        return response
    }

    func json(_ request: ServiceRequest, _ operation: ServiceOperation) async throws -> JSON {
        let response = try await succeed(request, operation)
        return try Self.json(response.body, operation)
    }

    static func json(_ body: [UInt8], _ operation: ServiceOperation) throws(ServiceError) -> JSON {
        guard let json = try? JSON(parsing: body, limit: answerLimit) else {
            throw .answerInvalid(operation, reason: "it is not JSON")
        }
        return json
    }
}

/// `name=value` pairs of a query, in order.
struct Query {
    private(set) var text = ""

    /// - Parameter isEncoded: whether the value is percent-encoded already.
    mutating func add(_ name: String, _ value: String, isEncoded: Bool = false) {
        text += (text.isEmpty ? "?" : "&") + name + "=" + (isEncoded ? value : PercentEncoding.encode(value))
    }
}
