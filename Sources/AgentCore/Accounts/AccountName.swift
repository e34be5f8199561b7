/// Name of an account: 1 to 32 lower-case letters, digits and hyphens, not starting with a hyphen.
package struct AccountName: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The default account, used if none is named.
    package static let gateway = AccountName(known: "gateway")
    /// The most characters of a name.
    package static let limit = 32

    package let text: String

    private init(known text: String) { self.text = text }

    /// - Returns: `nil` if the text is not an account name.
    package init?(_ text: String) {
        let isAllowed = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
            default: false
            }
        }
        guard isAllowed, (1...Self.limit).contains(text.utf8.count), text.first != "-" else { return nil }
        self.text = text
    }

    package var description: String { text }

    /// The default account comes first, then the others in alphabetical order.
    package static func < (left: AccountName, right: AccountName) -> Bool {
        guard left != right, right != .gateway else { return false }
        return left == .gateway || left.text < right.text
    }
}
