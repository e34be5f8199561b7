import Groundwork

/// Finds the handler of a request by method and path.
public struct Router: Sendable {
    /// Answers one request. An error becomes the JSON error of the answer, with the status of its kind.
    public typealias Handler = @Sendable (LocalRequest) async throws -> LocalResponse

    struct Route: Sendable {
        let method: String
        let pattern: [String]
        let permission: Permission
        let description: RouteDescription
        let handler: Handler

        var path: String { "/" + pattern.joined(separator: "/") }
        var parameterNames: [String] { pattern.compactMap(Router.parameterName) }

        /// What stands for the `{names}`; `nil` when the path is not of this pattern.
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
    ///   - pattern: such as `/v1/sensors/{name}`. A path that fits several is the one's with the fewest names.
    public mutating func on(
        _ method: String, _ pattern: String, needs permission: Permission, _ description: RouteDescription,
        handler: @escaping Handler
    ) {
        let route = Route(
            method: method, pattern: pattern.split(separator: "/").map(String.init), permission: permission,
            description: description, handler: handler)
        let place = routes.firstIndex { $0.parameterNames.count > route.parameterNames.count }
        routes.insert(route, at: place ?? routes.endIndex)
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
