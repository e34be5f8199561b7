public import Directories
import Gateway
import Groundwork
public import HTTPClient

/// A request to a service of the gateway; its sender adds the credentials.
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
public struct ServiceOperation: Sendable, Equatable {
    let text: String

    static let listDevices = Self(text: "list the devices")
    static let readMetadata = Self(text: "read the metadata of the device")
    static let setMetadata = Self(text: "set the metadata of the device")
    static let deleteMetadata = Self(text: "delete the metadata of the device")
    static let listItems = Self(text: "list what is stored at the gateway")
    static let readItem = Self(text: "read what is stored at the gateway")
    static let saveItem = Self(text: "store at the gateway")
    static let deleteItem = Self(text: "delete what is stored at the gateway")
    static let listApps = Self(text: "list the enterprise applications")
    static let fetchIcon = Self(text: "fetch the icon")
    static let openApp = Self(text: "open the application")
}

/// Sends requests to services and reads their answers within bounds.
public struct ServiceClient: Sendable {
    public typealias Send = @Sendable (ServiceRequest) async throws -> HTTPResponse

    /// The largest answer that is read as JSON, in bytes: 4 MiB.
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

extension ServiceClient: DirectoryServer {
    public func send(
        _ method: String, _ path: String, headers: HTTPHeaders, body: [UInt8]?
    ) async throws -> HTTPResponse {
        try await send(ServiceRequest(method, path, headers: headers, body: body))
    }

    public func refusal(of response: HTTPResponse, _ operation: DirectoryOperation) -> any Error {
        ServiceError(response, ServiceOperation(text: operation.rawValue))
    }
}
