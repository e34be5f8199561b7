import Groundwork

/// Finds the handler of a request by method and path.
public struct Router: Sendable {
    /// Answers one request. An error becomes the JSON error of the answer, with the status of its kind.
    public typealias Handler = @Sendable (LocalRequest) async throws -> LocalResponse

    /// An object, and with its path as it was written: there are some two hundred, for as long as the agent runs.
    final class Route: Sendable {
        let method: String
        /// Such as `/v1/sensors/{name}`.
        let path: String
        let parameterCount: Int
        let permission: Permission
        let handler: Handler
        private let describe: @Sendable () -> RouteDescription
        private let outline = RouteOutline()
        /// Whether requests are as described once the handler has them.
        private let checksRequests: Bool

        /// Made anew each time: the schemas of all routes would be half a megabyte, which hardly anybody asks for.
        var description: RouteDescription { describe() }

        var segments: [Substring] { path.split(separator: "/") }
        var parameterNames: [String] {
            segments.compactMap { Router.parameterName($0.utf8).map { String(Substring($0)) } }
        }

        /// What each request of the route is checked by.
        var checks: RouteOutline.Checks { outline.checks(by: describe) }

        init(
            _ method: String, _ path: String, _ permission: Permission,
            _ describe: @escaping @Sendable () -> RouteDescription, _ handler: @escaping Handler,
            checksRequests: Bool = true
        ) {
            self.checksRequests = checksRequests
            self.method = method
            self.path = path
            parameterCount = path.utf8.count { $0 == UInt8(ascii: "{") }
            self.permission = permission
            self.describe = describe
            self.handler = handler
        }

        /// - Throws: ``LocalAPIError`` if the request is not as the route's description says; and the handler's errors.
        func answer(_ request: LocalRequest) async throws -> LocalResponse {
            try await handler(checksRequests ? try checks.checked(request) : request)
        }

        func answered(by handler: @escaping Handler) -> Route {
            Route(method, path, permission, describe, handler, checksRequests: false)
        }

        /// The values of the `{names}`; `nil` if the path does not match this pattern.
        func parameters(of segments: [String]) -> [String: String]? {
            var parameters: [String: String] = [:]
            var rest = path.utf8.dropFirst()
            for segment in segments {
                let expected = rest.prefix { $0 != UInt8(ascii: "/") }
                rest = rest[expected.endIndex...].dropFirst()
                if let name = Router.parameterName(expected) {
                    parameters[String(Substring(name))] = segment
                } else if !expected.elementsEqual(segment.utf8) {
                    return nil
                }
            }
            return rest.isEmpty ? parameters : nil
        }
    }

    private(set) var routes: [Route] = []

    public init() {}

    /// - Parameters:
    ///   - method: `GET`, which answers `HEAD` too, `POST`, `PUT`, `PATCH` or `DELETE`.
    ///   - pattern: such as `/v1/sensors/{name}`. If a path matches several, the one with the fewest names wins.
    ///   - description: evaluated when a request or the document needs it.
    public mutating func on(
        _ method: String, _ pattern: String, needs permission: Permission,
        _ description: @autoclosure @escaping @Sendable () -> RouteDescription, handler: @escaping Handler
    ) {
        insert(Route(method, pattern, permission, description, handler))
    }

    private mutating func insert(_ route: Route) {
        let place = routes.firstIndex { $0.parameterCount > route.parameterCount }
        routes.insert(route, at: place ?? routes.endIndex)
    }

    /// Adds every route of another router, with the permission that it needs there and another handler, which answers
    /// all requests, also those that the route's description forbids.
    public mutating func on(eachOf other: Router, handler: @escaping Handler) {
        for route in other.routes { insert(route.answered(by: handler)) }
    }

    /// Adds every route of another router.
    public mutating func add(_ other: Router) {
        for route in other.routes { insert(route) }
    }

    /// The same routes below another path.
    ///
    /// - Parameters:
    ///   - prefix: what their paths begin with, and `/`.
    ///   - other: what stands in its place.
    ///   - parameters: what stands for the `{names}` of `other`.
    ///   - excluded: the paths of those that stay behind.
    public func moved(
        from prefix: String, to other: String, describing parameters: [String: Schema], leavingOut excluded: Set<String>
    ) -> Router {
        var moved = Router()
        for route in routes where route.path.hasPrefix(prefix + "/") && !excluded.contains(route.path) {
            moved.on(
                route.method, other + route.path.dropFirst(prefix.count), needs: route.permission,
                route.description.describing(parameters), handler: route.handler)
        }
        return moved
    }

    /// - Throws: ``LocalAPIError/notFound(path:)``, ``LocalAPIError/methodNotAllowed(method:path:allowed:)``
    func route(
        _ method: String, _ target: RequestTarget
    ) throws(LocalAPIError) -> (route: Route, parameters: [String: String]) {
        let wanted = method == "HEAD" ? "GET" : method
        var allowed: Set<String> = []
        for route in routes {
            guard let parameters = route.parameters(of: target.segments) else { continue }
            if route.method == wanted { return (route, parameters) }
            allowed.formUnion(route.method == "GET" ? ["GET", "HEAD"] : [route.method])
        }
        guard allowed.isEmpty else {
            throw .methodNotAllowed(method: method, path: target.path, allowed: allowed.sorted())
        }
        throw .notFound(path: target.path)
    }

    private static func parameterName(_ segment: Substring.UTF8View) -> Substring.UTF8View? {
        guard segment.first == UInt8(ascii: "{"), segment.last == UInt8(ascii: "}") else { return nil }
        return segment.dropFirst().dropLast()
    }
}
