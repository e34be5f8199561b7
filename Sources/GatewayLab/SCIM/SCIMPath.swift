import Groundwork

/// The path of an attribute, such as `name.familyName`, with or without the URN of its schema before it (RFC 7644
/// section 3.10). Letters match in either case.
struct SCIMPath: Equatable {
    /// The URN; `nil` where the path names an attribute of any schema.
    let schema: String?
    let names: [String]

    init(_ text: some StringProtocol) {
        let text = text.lowercased()
        // The version in a URN has a dot, so names begin after its last colon.
        guard let colon = text.lastIndex(of: ":") else {
            (schema, names) = (nil, Self.names(text[...]))
            return
        }
        schema = String(text[..<colon])
        names = Self.names(text[text.index(after: colon)...])
    }

    private static func names(_ text: Substring) -> [String] { text.split(separator: ".").map(String.init) }

    /// What a resource has there: an attribute with several values has each.
    func elements(of resource: JSON) -> [JSON] {
        if let schema {
            let own = resource["schemas"]?.array ?? []
            guard own.contains(where: { $0.string?.lowercased() == schema }) else { return [] }
        }
        var values = [resource]
        for name in names {
            values = values.flatMap { value -> [JSON] in
                let found = value.object?.first { $0.key.lowercased() == name }?.value
                return found?.array ?? found.map { [$0] } ?? []
            }
        }
        return values
    }

    /// The values to compare: `emails` alone means `emails.value`.
    func values(of resource: JSON) -> [JSON] {
        elements(of: resource).map { $0["value"] ?? $0 }.filter { $0 != .null && $0 != "" }
    }
}

extension JSON {
    /// Negative if this comes before the other; `nil` if they cannot be compared. Text is compared without regard to
    /// case.
    func scimOrder(to other: JSON) -> Int? {
        if let left = string?.lowercased(), let right = other.string?.lowercased() {
            return left == right ? 0 : left < right ? -1 : 1
        }
        if let left = number, let right = other.number { return left == right ? 0 : left < right ? -1 : 1 }
        if let left = bool, let right = other.bool { return left == right ? 0 : 1 }
        return nil
    }
}
