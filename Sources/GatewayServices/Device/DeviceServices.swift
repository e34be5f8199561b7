public import Groundwork
import HTTPClient

/// The devices of a user (E14) and the attributes that the gateway keeps of this one (E15; MAG 6.9).
public struct DeviceServices: Sendable {
    /// An attribute of the device.
    public struct Attribute: Sendable, Equatable {
        public let name: String
        public let value: String
    }

    private let client: ServiceClient
    private let listPath: String
    private let metadataPath: String

    /// The longest name and value, in bytes.
    static let nameLimit = 256
    static let valueLimit = 4096
    /// The most devices or attributes of an answer.
    static let entryLimit = 10_000

    public init(client: ServiceClient, listPath: String, metadataPath: String) {
        self.client = client
        self.listPath = listPath
        self.metadataPath = metadataPath
    }

    // MARK: Devices

    /// The devices as the gateway describes them: an array of objects, or an object with one such array. The protocol
    /// does not say which (MAG 15).
    public func devices() async throws -> [JSON] {
        try Self.devices(in: await client.json(request("GET", listPath), .listDevices))
    }

    static func devices(in answer: JSON) throws(ServiceError) -> [JSON] {
        let lists = answer.object?.values.compactMap(\.array) ?? []
        guard let list = answer.array ?? (lists.count == 1 ? lists[0] : nil), list.count <= Self.entryLimit,
            list.allSatisfy({ $0.object != nil })
        else { throw ServiceError.answerInvalid(.listDevices, reason: "it is not a list of devices") }
        return list
    }

    // MARK: Metadata

    /// Sets an attribute, new or in place of an earlier value.
    ///
    /// - Throws: ``ServiceError/metadataFull(status:)``, ``ServiceError/metadataInvalid(reason:)``
    public func set(_ name: String, to value: String) async throws {
        try Self.check(name)
        guard value.utf8.count <= Self.valueLimit else {
            throw ServiceError.metadataInvalid(reason: "its value is longer than \(Self.valueLimit) bytes")
        }
        let body: JSON = ["name": .string(name), "value": .string(value)]
        try await client.succeed(request("PUT", metadataPath, body), .setMetadata)
    }

    /// - Returns: `nil` if the device has no such attribute.
    public func value(of name: String) async throws -> String? {
        try Self.check(name)
        let response = try await client.answer(request("GET", path(of: name)))
        guard !Self.isAbsent(response) else { return nil }
        guard response.isSuccess else { throw ServiceError(response, .readMetadata) }
        let answer = try ServiceClient.json(response.body, .readMetadata)
        guard answer.object?.isEmpty != true else { return nil }
        return try Self.attribute(answer).value
    }

    /// All attributes, ordered by name.
    public func attributes() async throws -> [Attribute] {
        let response = try await client.answer(request("GET", metadataPath))
        guard !Self.isAbsent(response) else { return [] }
        guard response.isSuccess else { throw ServiceError(response, .readMetadata) }
        return try Self.attributes(in: ServiceClient.json(response.body, .readMetadata))
    }

    static func attributes(in answer: JSON) throws(ServiceError) -> [Attribute] {
        guard let list = answer.array, list.count <= entryLimit else {
            throw .answerInvalid(.readMetadata, reason: "it is not a list")
        }
        return try list.map { element throws(ServiceError) in try attribute(element) }.sorted { $0.name < $1.name }
    }

    /// Deletes an attribute. One that is not there counts as deleted (MAG checklist 45).
    public func delete(_ name: String) async throws {
        try Self.check(name)
        try await delete(at: path(of: name))
    }

    public func deleteAll() async throws { try await delete(at: metadataPath) }

    private func delete(at path: String) async throws {
        let response = try await client.answer(request("DELETE", path))
        guard response.isSuccess || Self.isAbsent(response) else { throw ServiceError(response, .deleteMetadata) }
    }

    private static func isAbsent(_ response: HTTPResponse) -> Bool {
        !response.isSuccess && response.headers.first("x-ca-err") == "1016156"
    }

    private static func check(_ name: String) throws(ServiceError) {
        guard (1...nameLimit).contains(name.utf8.count) else {
            throw .metadataInvalid(reason: "its name has 1 to \(nameLimit) bytes")
        }
    }

    private static func attribute(_ json: JSON) throws(ServiceError) -> Attribute {
        guard let name = json["name"]?.string, let value = json["value"]?.string else {
            throw .answerInvalid(.readMetadata, reason: "an attribute has no name or no value")
        }
        return Attribute(name: name, value: value)
    }

    private func path(of name: String) -> String { metadataPath + "/" + PercentEncoding.encode(name) }

    private func request(_ method: String, _ path: String, _ body: JSON? = nil) -> ServiceRequest {
        var request = ServiceRequest(method, path, headers: ["Accept": "application/json"], body: body?.bytes)
        if body != nil { request.headers.set("Content-Type", "application/json") }
        return request
    }
}
