import FoundationEssentials
import Groundwork
import HTTPClient

/// Items that the gateway stores (MASS; MAG 11.1).
public struct CloudStorage: Sendable {
    private let client: ServiceClient
    private let base: String

    /// The most entries of a list.
    static let entryLimit = 10_000

    /// - Parameter path: `mas.mas-storage-path` of the configuration, or an absolute URL.
    /// - Throws: ``ItemError/endpointMissing``
    public init(client: ServiceClient, path: String) throws(ItemError) {
        self.client = client
        base = try Self.base(of: path)
    }

    /// The path without its segments `Client`, which exported configurations contain and each request adds itself
    /// (MAG 11.1).
    static func base(of path: String) throws(ItemError) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).filter { $0 != "Client" }
        var base = segments.joined(separator: "/")
        while base.hasSuffix("/") { base.removeLast() }
        guard base.hasPrefix("/") || base.hasPrefix("https://") else { throw .endpointMissing }
        return base
    }

    // MARK: Items

    /// Stores an item, new or in place of an earlier one: a PUT, and a POST if the gateway does not know the key yet.
    public func save(_ key: String, _ value: [UInt8], type: String, in segment: ItemSegment) async throws {
        try StoredItem.check(key: key)
        try StoredItem.check(type: type, value: value)
        try await store(key, value, type: type, in: segment)
    }

    /// Stores what has been checked.
    func store(_ key: String, _ value: [UInt8], type: String, in segment: ItemSegment) async throws {
        let body: JSON = [
            "key": .string(key), "type": .string(type), "value": .string(Base64.encode(value)),
        ]
        var request = request("PUT", segment, key, body.bytes)
        var answer = try await client.answer(request)
        if answer.status == 404 {
            request = self.request("POST", segment, key, body.bytes)
            answer = try await client.answer(request)
            // Another program of the user's has stored it meanwhile.
            if answer.status == 409 { answer = try await client.answer(self.request("PUT", segment, key, body.bytes)) }
        }
        guard answer.isSuccess else { throw ServiceError(answer, .saveItem) }
    }

    /// - Throws: ``ItemError/absent(key:)``, ``ItemError/answerInvalid(reason:)``
    public func find(_ key: String, in segment: ItemSegment) async throws -> StoredItem {
        try StoredItem.check(key: key)
        let response = try await client.answer(request("GET", segment, key))
        // What a 404 says is not always JSON, and is never read.
        guard response.status != 404 else { throw ItemError.absent(key: key) }
        guard response.isSuccess else { throw ServiceError(response, .readItem) }
        return try Self.item(response.body, key)
    }

    /// What is stored in a segment, ordered by key.
    public func list(_ segment: ItemSegment) async throws -> [ItemEntry] {
        let response = try await client.answer(request("GET", segment, nil))
        guard response.status != 404 else { return [] }
        guard response.isSuccess else { throw ServiceError(response, .listItems) }
        guard let answer = try? JSON(parsing: response.body, limit: ServiceClient.answerLimit),
            let results = answer["results"]?.array, results.count <= Self.entryLimit
        else { throw ItemError.answerInvalid(reason: "it is not a list of items") }
        return try results.map { entry in
            guard let key = entry["key"]?.string else {
                throw ItemError.answerInvalid(reason: "an entry of its list has no key")
            }
            return ItemEntry(
                key: key, type: entry["type"]?.string ?? "", modified: entry["modifiedDate"].flatMap(Self.date),
                isEncrypted: entry["type"]?.string == ItemSeal.type)
        }.sorted { $0.key < $1.key }
    }

    /// - Returns: whether there was such an item.
    public func delete(_ key: String, in segment: ItemSegment) async throws -> Bool {
        try StoredItem.check(key: key)
        let response = try await client.answer(request("DELETE", segment, key))
        guard response.status != 404 else { return false }
        guard response.isSuccess else { throw ServiceError(response, .deleteItem) }
        return true
    }

    private func request(
        _ method: String, _ segment: ItemSegment, _ key: String?, _ body: [UInt8]? = nil
    ) -> ServiceRequest {
        let path = base + segment.path + (key.map { "/" + PercentEncoding.encode($0) } ?? "")
        var request = ServiceRequest(method, path, headers: ["Accept": "application/json"], body: body)
        if body != nil { request.headers.set("Content-Type", "application/json") }
        request.needsUser = segment.needsUser
        return request
    }

    // MARK: Answers

    /// Reads an item in either form (MAG 11.1): a value of type JSON contains the document that was stored, with its
    /// own type and value; any other value is the text itself.
    static func item(_ body: [UInt8], _ key: String) throws(ItemError) -> StoredItem {
        guard let answer = try? JSON(parsing: body, limit: ServiceClient.answerLimit),
            let value = answer["value"]?.string, let bytes = decoded(value)
        else { throw .answerInvalid(reason: "it has no value in base64") }
        let type = answer["type"]?.string ?? ""
        let modified = answer["modifiedDate"].flatMap(date)
        guard type.contains("application/json") else {
            return StoredItem(key: key, type: type, modified: modified, value: bytes)
        }
        guard let document = try? JSON(parsing: bytes, limit: ServiceClient.answerLimit),
            let inner = document["value"]?.string, let content = decoded(inner)
        else { throw .answerInvalid(reason: "the document in its value has no value in base64") }
        return StoredItem(key: key, type: document["type"]?.string ?? type, modified: modified, value: content)
    }

    /// One of the public clients breaks its base64 into lines (MAG 11.1).
    private static func decoded(_ text: String) -> [UInt8]? {
        Base64.decode(String(text.unicodeScalars.filter { $0 != "\n" && $0 != "\r" }))
    }

    /// Services write it as text, or as a number of milliseconds.
    private static func date(_ value: JSON) -> String? {
        if let text = value.string { return DisplayText.oneLine(text, limit: 64) }
        guard let number = value.number, (0...253_402_300_799_000).contains(number) else { return nil }
        return Date(timeIntervalSince1970: number / 1000).formatted(.iso8601)
    }
}
