public import FoundationEssentials
public import Groundwork

/// What the gateway last said about a user at endpoint E12 (MAG 5.7), kept so that it can be read without the gateway.
public struct UserProfile: Sendable, Equatable {
    /// The maximum size of the claims, in bytes of JSON; larger ones are not kept.
    static let limit = 16_384

    /// As the gateway wrote them.
    public let claims: JSON
    public let updatedAt: Date

    /// - Returns: `nil` if it is not an object, or too large to be kept.
    init?(_ claims: JSON, updatedAt: Date) {
        guard claims.object != nil, claims.bytes.count <= Self.limit else { return nil }
        self.claims = claims
        self.updatedAt = updatedAt
    }

    /// The user's name at the gateway, if it can be shown in a log.
    var userName: String? {
        claims["preferred_username"]?.string.flatMap { HeldUser.isName($0) ? $0 : nil }
    }

    /// The attributes that the public clients give their programs, by the claims of OpenID Connect Core section 5.1.
    /// Each is absent where the gateway does not release it.
    public var attributes: [String: JSON] {
        var found: [String: JSON] = [:]
        let names = [
            "userName": "preferred_username", "formattedName": "name", "givenName": "given_name",
            "middleName": "middle_name", "familyName": "family_name",
        ]
        for (name, claim) in names where claims[claim]?.string != nil { found[name] = claims[claim] }
        let lists = [
            "emails": "email", "phones": "phone_number", "photos": "picture", "addresses": "address",
            "groups": "groups",
        ]
        for (name, claim) in lists {
            guard let value = claims[claim], value != .null else { continue }
            found[name] = value.array == nil ? .array([value]) : value
        }
        return found
    }
}
