import Groundwork

/// Finds the handler of a request by method and path.
public struct Router: Sendable {
    /// Answers one request. An error becomes the JSON error of the answer, with the status of its kind.
    public typealias Handler = @Sendable (LocalRequest) async throws -> LocalResponse

    struct Route: Sendable {
        let method: String
        let pattern: [String]
        let parameterCount: Int
        let permission: Permission
        var handler: Handler
        private let describe: @Sendable () -> RouteDescription
        private let outline: RouteOutline

        /// Made anew each time: the schemas of all routes would be half a megabyte, which hardly anybody asks for.
        var description: RouteDescription { describe() }

        var path: String { "/" + pattern.joined(separator: "/") }
        var parameterNames: [String] { pattern.compactMap(Router.parameterName) }

        /// What each request of the route is checked by.
        var checks: RouteOutline.Checks { outline.checks(by: describe) }

        init(
            _ method: String, _ path: String, _ permission: Permission,
            _ describe: @escaping @Sendable () -> RouteDescription, _ handler: @escaping Handler
        ) {
            self.method = method
            pattern = path.split(separator: "/").map(String.init)
            parameterCount = pattern.count { Router.parameterName($0) != nil }
            self.permission = permission
            self.describe = describe
            self.handler = handler
            outline = RouteOutline()
        }

        /// The values of the `{names}`; `nil` if the path does not match this pattern.
        func parameters(of segments: [String]) -> [String: String]? {
            guard segments.count == pattern.count else { return nil }
            var parameters: [String: String] = [:]
            for (expected, segment) in zip(pattern, segments) {
                if let name = Router.parameterName(expected) {
                    parameters[name] = segment
                } else if expected != segment {
                    return nil
                }
            }
            return parameters
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

    /// Adds every route of another router, with the permission that it needs there and another handler.
    public mutating func on(eachOf other: Router, handler: @escaping Handler) {
        for var route in other.routes {
            route.handler = handler
            insert(route)
        }
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

    private static func parameterName(_ segment: String) -> String? {
        segment.hasPrefix("{") && segment.hasSuffix("}") ? String(segment.dropFirst().dropLast()) : nil
    }
}
