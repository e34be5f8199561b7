import Groundwork

/// A request to a route of the local API.
struct RouteRequest {
    enum Method {
        case get
        case post(JSON)
        case delete
    }

    let method: Method
    /// The path with its query, without what the command's options add in front.
    let route: String
    let timeout: Duration
    /// What a terminal shows while the answer takes long, such as "asking the gateway"; `nil` for nothing.
    let progress: String?

    static func get(
        _ route: String, query: QueryText = [:], timeout: Duration = .seconds(30), saying progress: String? = nil
    ) -> RouteRequest {
        RouteRequest(method: .get, route: route + query.text, timeout: timeout, progress: progress)
    }

    /// - Parameter body: members that are `nil` or null are left out.
    static func post(
        _ route: String, query: QueryText = [:], _ body: [String: JSON?] = [:],
        timeout: Duration = .seconds(30), saying progress: String? = nil
    ) -> RouteRequest {
        // `nil` in a dictionary literal may become `JSON.null`.
        let members = body.compactMapValues { $0 == .null ? nil : $0 }
        return RouteRequest(
            method: .post(.object(members)), route: route + query.text, timeout: timeout, progress: progress)
    }

    static func delete(
        _ route: String, query: QueryText = [:], timeout: Duration = .seconds(30), saying progress: String? = nil
    ) -> RouteRequest {
        RouteRequest(method: .delete, route: route + query.text, timeout: timeout, progress: progress)
    }
}

/// A query of the local API.
struct QueryText: ExpressibleByDictionaryLiteral {
    let text: String

    /// - Parameter pairs: those whose value is `nil` are left out.
    init(dictionaryLiteral pairs: (String, String?)...) {
        let fields = pairs.compactMap { name, value in value.map { "\(name)=\($0.segment)" } }
        text = fields.isEmpty ? "" : "?" + fields.joined(separator: "&")
    }
}

extension String {
    /// As a segment of a path, or as a value of a query.
    var segment: String { PercentEncoding.encode(self) }
}
