import Groundwork

/// What clients keep at the lab's services.
struct LabServices: Sendable, Equatable, Codable {
    /// A group of SCIM, as its creator posted it and with the attributes that the lab adds.
    struct Group: Sendable, Equatable, Codable {
        var name: String
        var owner: String
        /// Identifiers of users: of the lab's own people, their names.
        var members: [String]
        /// What its creator calls it.
        var externalID: String?
    }

    struct Item: Sendable, Equatable, Codable {
        /// The document that was stored.
        var document: [UInt8]
        /// Milliseconds since 1970.
        var modified: Int64
    }

    /// The most of each that the lab keeps.
    static let limit = 1000
    /// The most attributes of a device.
    static let attributeLimit = 16

    /// By identifier.
    var groups: [String: Group] = [:]
    /// The users that clients of SCIM have made, by identifier; `nil` in files of earlier versions.
    var people: [String: [UInt8]]?
    /// By mag-identifier, then by name.
    var metadata: [String: [String: String]] = [:]
    /// By segment and owner, then by key.
    var items: [String: [String: Item]] = [:]
}

extension LabState {
    /// ``services``, also while there are none.
    var kept: LabServices {
        get { services ?? LabServices() }
        set { services = newValue }
    }
}
