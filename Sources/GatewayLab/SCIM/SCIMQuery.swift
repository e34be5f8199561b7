import Groundwork

/// What a client wants to have of resources (RFC 7644 sections 3.4.2 and 3.9): in the query of an address, or posted.
struct SCIMQuery {
    /// How many a client gets that names no count.
    private static let page = 12
    private static let searchSchema = "urn:ietf:params:scim:api:messages:2.0:SearchRequest"

    private let filter: (JSON) -> Bool
    private let sortBy: SCIMPath?
    private let isDescending: Bool
    private let startIndex: Int
    private let count: Int
    private let wanted: [SCIMPath]?
    private let unwanted: [SCIMPath]?

    init(_ query: Parameters) throws(SCIMFault) {
        func number(_ name: String) throws(SCIMFault) -> Int? {
            guard let text = query[name] else { return nil }
            guard let number = Int(text) else { throw SCIMFault(400, "invalidValue", "\(name) is not a number") }
            return number
        }
        func names(_ name: String) -> [String]? { query[name]?.split(separator: ",").map { String($0).trimmed } }
        try self.init(
            filter: query["filter"], sortBy: query["sortBy"], sortOrder: query["sortOrder"],
            startIndex: try number("startIndex"), count: try number("count"), wanted: names("attributes"),
            unwanted: names("excludedAttributes"))
    }

    /// A search request (RFC 7644 section 3.4.3).
    init(posted body: [UInt8]) throws(SCIMFault) {
        guard let body = try? JSON(parsing: body),
            body["schemas"]?.array?.contains(.string(Self.searchSchema)) == true
        else { throw SCIMFault(400, "invalidSyntax", "It is not a search request") }
        func names(_ name: String) -> [String]? { body[name]?.array?.compactMap(\.string) }
        try self.init(
            filter: body["filter"]?.string, sortBy: body["sortBy"]?.string, sortOrder: body["sortOrder"]?.string,
            startIndex: body["startIndex"]?.integer.flatMap { Int(exactly: $0) },
            count: body["count"]?.integer.flatMap { Int(exactly: $0) }, wanted: names("attributes"),
            unwanted: names("excludedAttributes"))
    }

    private init(
        filter: String?, sortBy: String?, sortOrder: String?, startIndex: Int?, count: Int?, wanted: [String]?,
        unwanted: [String]?
    ) throws(SCIMFault) {
        guard wanted == nil || unwanted == nil else {
            throw SCIMFault(400, "invalidValue", "attributes and excludedAttributes do not go together")
        }
        self.filter = if let filter { try SCIMFilterText.matcher(filter) } else { { _ in true } }
        self.sortBy = sortBy.map { SCIMPath($0) }
        isDescending = sortOrder == "descending"
        self.startIndex = max(1, startIndex ?? 1)
        self.count = min(max(0, count ?? Self.page), LabServices.limit)
        self.wanted = wanted?.map { SCIMPath($0) }
        self.unwanted = unwanted?.map { SCIMPath($0) }
    }

    /// The list of those that match.
    func list(of resources: [JSON]) -> WireResponse {
        var found = resources.filter(filter)
        if let sortBy {
            found.sort { left, right in
                guard let first = sortBy.values(of: left).first else { return false }
                guard let second = sortBy.values(of: right).first else { return true }
                return (first.scimOrder(to: second) ?? 0) < 0
            }
            if isDescending { found.reverse() }
        }
        return Self.list(of: found.dropFirst(startIndex - 1).prefix(count).map(part), of: found.count, at: startIndex)
    }

    static func list(of page: [JSON], of total: Int, at startIndex: Int = 1) -> WireResponse {
        .scim([
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
            "totalResults": .integer(Int64(total)), "startIndex": .integer(Int64(startIndex)),
            "itemsPerPage": .integer(Int64(page.count)), "Resources": .array(page),
        ])
    }

    /// The attributes that were asked for; `id` and `schemas` are always there.
    func part(of resource: JSON) -> JSON {
        guard let members = resource.object, wanted != nil || unwanted != nil else { return resource }
        var part: [String: JSON] = [:]
        for (name, value) in members {
            let key = name.lowercased()
            if ["id", "schemas"].contains(name) {
                part[name] = value
            } else if let wanted {
                part[name] = Self.kept(value, Self.below(key, wanted), keepsNamed: true)
            } else if let unwanted {
                part[name] = Self.kept(value, Self.below(key, unwanted), keepsNamed: false)
            }
        }
        return .object(part)
    }

    /// Which parts of an attribute the paths name: an empty name is all of it.
    private static func below(_ name: String, _ paths: [SCIMPath]) -> Set<String> {
        Set(paths.filter { $0.names.first == name }.map { $0.names.count > 1 ? $0.names[1] : "" })
    }

    private static func kept(_ value: JSON, _ named: Set<String>, keepsNamed: Bool) -> JSON? {
        // Not `nil`, which is a JSON value here.
        if named.isEmpty { return keepsNamed ? .none : .some(value) }
        if named.contains("") { return keepsNamed ? .some(value) : .none }
        if let values = value.array { return .array(values.compactMap { kept($0, named, keepsNamed: keepsNamed) }) }
        guard let parts = value.object else { return keepsNamed ? .none : .some(value) }
        return .object(parts.filter { named.contains($0.key.lowercased()) == keepsNamed })
    }
}
