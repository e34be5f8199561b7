import Groundwork

/// What is asked of a list of users or groups (MAG 10).
public struct SCIMQuery: Sendable, Equatable {
    public enum Order: String, Sendable, CaseIterable { case ascending, descending }

    /// Which attributes the answer has; without it, those that the service returns by default.
    public enum Attributes: Sendable, Equatable {
        case only([String])
        case without([String])
    }

    /// The size of a page unless the query says otherwise, as the public clients have it.
    public static let usualCount = 12
    /// The most resources of one page.
    public static let countLimit = 200

    public var filter: SCIMFilter?
    public var spelling = SCIMFilter.Spelling.standard
    public var sortBy: String?
    public var order = Order.ascending
    public var attributes: Attributes?
    /// Of the first resource of the page, from 1.
    public var startIndex = 1
    public var count = usualCount

    public init(filter: SCIMFilter? = nil) { self.filter = filter }

    /// The query in the order of the public clients: filter, sort, attributes, paging.
    ///
    /// - Throws: ``DirectoryError/queryInvalid(reason:)``, ``DirectoryError/filterInvalid(reason:)``
    func text() throws(DirectoryError) -> String {
        var query = Query()
        if let filter { query.add("filter", try filter.encoded(spelling), isEncoded: true) }
        if let sortBy {
            query.add("sortBy", try Self.checked([sortBy]))
            query.add("sortOrder", order.rawValue)
        }
        try add(to: &query)
        guard startIndex >= 1, (1...Self.countLimit).contains(count) else {
            throw .queryInvalid(reason: "a page begins at 1 or later and has 1 to \(Self.countLimit) entries")
        }
        query.add("startIndex", "\(startIndex)")
        query.add("count", "\(count)")
        return query.text
    }

    /// The attributes alone, for a single resource.
    func attributesText() throws(DirectoryError) -> String {
        var query = Query()
        try add(to: &query)
        return query.text
    }

    private func add(to query: inout Query) throws(DirectoryError) {
        switch attributes {
        case .only(let names): query.add("attributes", try Self.checked(names), isEncoded: true)
        case .without(let names): query.add("excludedAttributes", try Self.checked(names), isEncoded: true)
        case nil: break
        }
    }

    private static func checked(_ names: [String]) throws(DirectoryError) -> String {
        guard (1...64).contains(names.count), names.allSatisfy(SCIMFilter.isAttribute) else {
            throw .queryInvalid(reason: "it names something that is not an attribute")
        }
        return names.joined(separator: ",")
    }
}

/// A page of users or groups.
public struct SCIMPage: Sendable, Equatable {
    /// How many match in all.
    public let total: Int
    /// Of the first of ``resources``, from 1.
    public let startIndex: Int
    /// Objects with an `id`.
    public let resources: [JSON]

    /// - Throws: ``DirectoryError/answerInvalid(_:reason:)``
    init(_ answer: JSON, asked query: SCIMQuery, _ operation: DirectoryOperation) throws(DirectoryError) {
        guard let total = answer["totalResults"]?.integer, (0...Int64(Int32.max)).contains(total) else {
            throw .answerInvalid(operation, reason: "its totalResults is missing")
        }
        let resources = answer["Resources"]?.array ?? []
        guard resources.count <= total, resources.count <= SCIMQuery.countLimit else {
            throw .answerInvalid(operation, reason: "it has more resources than it says or than were requested")
        }
        for resource in resources { try Self.check(resource, operation) }
        self.total = Int(total)
        startIndex = answer["startIndex"]?.integer.flatMap { Int(exactly: $0) } ?? query.startIndex
        self.resources = resources
    }

    /// - Throws: ``DirectoryError/answerInvalid(_:reason:)`` unless it is an object with an `id`.
    static func check(_ resource: JSON, _ operation: DirectoryOperation) throws(DirectoryError) {
        guard let id = resource["id"]?.string, !id.isEmpty else {
            throw .answerInvalid(operation, reason: "a resource has no id")
        }
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
