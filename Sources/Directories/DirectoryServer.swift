public import HTTPClient

/// Sends the requests of a directory: it adds the credentials, and knows what the server's refusals mean.
public protocol DirectoryServer: Sendable {
    /// - Parameter path: as the directory was given its base, with a query.
    /// - Returns: the answer, whatever its status.
    func send(_ method: String, _ path: String, headers: HTTPHeaders, body: [UInt8]?) async throws -> HTTPResponse

    /// The error for an answer that is not a success.
    func refusal(of response: HTTPResponse, _ operation: DirectoryOperation) -> any Error
}

/// What a directory was asked to do, for error messages.
public enum DirectoryOperation: String, Sendable, Equatable {
    case readUsers = "read users"
    case readGroups = "read groups"
    case createGroup = "create the group"
    case changeGroup = "change the group"
    case deleteGroup = "delete the group"
    case readSchema = "read the schema"
}
