public import Groundwork
public import HTTPClient

/// A request as a route's handler receives it: complete, and allowed by the policy.
public struct LocalRequest: Sendable {
    public let method: String
    public let path: String
    /// The values of the `{names}` in the route's pattern.
    public let parameters: [String: String]
    /// The given parameters; the route describes all of them.
    public let query: [String: String]
    public let headers: HTTPHeaders
    public internal(set) var body: [UInt8] = []
    /// The body as a JSON object that fits the route's schema; without members where no body was sent, or text.
    public private(set) var json: JSON = [:]
    public let peer: Peer
    /// Whether the peer may do everything.
    public let isOwner: Bool
    /// Whether the policy lets the peer operate.
    public let mayOperate: Bool

    /// The error of a request whose user does not have a right that it needs beside that of its route.
    public func denied(_ permission: Permission) -> LocalAPIError { .denied(permission, to: peer, method, path) }

    /// Reads the body as a JSON object. A request without one counts as one without members.
    ///
    /// - Throws: ``LocalAPIError/badBody(reason:)``
    mutating func readJSON() throws(LocalAPIError) {
        guard !body.isEmpty else { return }
        do {
            json = try JSON(parsing: body, limit: .max)
        } catch {
            throw .badBody(reason: "is \(error.message)")
        }
        guard json.object != nil else { throw .badBody(reason: "is \(json.kind), not an object") }
    }
}
