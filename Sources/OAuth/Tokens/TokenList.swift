import Cryptography
import FoundationEssentials
import Groundwork

/// The tokens of one holder at one server, by scope: a token serves every request for no more than its scope. Pure.
public struct TokenList: Sendable, Equatable {
    /// The most tokens that are kept.
    public static let limit = 16

    /// An access token with the refresh token that came with it.
    public struct Entry: Sendable, Equatable {
        public var access: HeldToken
        public var refresh: SecretBytes?
        /// The scope it was requested for: some servers grant another, and would again.
        public let requested: Set<String>
        /// Whether an answer to its refresh did not arrive: the server may have replaced the refresh token.
        public var isAnswerLost: Bool

        public init(
            access: HeldToken, refresh: SecretBytes?, requested: Set<String> = [], isAnswerLost: Bool = false
        ) {
            self.access = access
            self.refresh = refresh
            self.requested = requested
            self.isAnswerLost = isAnswerLost
        }

        public var scope: Set<String> { Scope.words(access.scope) }

        public func serves(_ wanted: Set<String>) -> Bool { wanted.isSubset(of: scope) || wanted == requested }

        /// Whether another token serves every caller that this one serves.
        func isReplaced(by other: Entry) -> Bool {
            scope.isSubset(of: other.scope) && (requested.isSubset(of: other.scope) || requested == other.requested)
        }

        /// The last seconds of a token are not used: it would end on its way.
        func isValid(at uptime: Duration) -> Bool {
            access.isValid(at: uptime + .seconds(min(30, access.lifetime / 10)))
        }
    }

    public private(set) var entries: [Entry] = []

    public init(_ entries: [Entry] = []) { self.entries = Array(entries.suffix(Self.limit)) }

    public var isEmpty: Bool { entries.isEmpty }

    /// A valid access token for a scope: of several, the one with the smallest scope.
    public func valid(for scope: Set<String>, at uptime: Duration) -> Entry? {
        entries.filter { $0.isValid(at: uptime) && $0.serves(scope) }
            .min { $0.scope.count < $1.scope.count }
    }

    /// A token for a scope that can be refreshed.
    public func refreshable(for scope: Set<String>) -> Entry? {
        entries.filter { $0.refresh != nil && $0.serves(scope) }.min { $0.scope.count < $1.scope.count }
    }

    /// Adds what was just issued. It replaces the tokens for its scope or less, and those that are of no more use.
    ///
    /// - Parameter former: what it was refreshed from.
    public mutating func add(_ entry: Entry, inPlaceOf former: Entry? = nil, at uptime: Duration) {
        entries.removeAll { old in
            old == former || (old.refresh == nil && !old.isValid(at: uptime))
                || (old.isReplaced(by: entry) && (entry.refresh != nil || old.refresh == nil))
        }
        entries = entries.suffix(Self.limit - 1) + [entry]
    }

    public mutating func remove(_ entry: Entry) { entries.removeAll { $0 == entry } }

    /// Notes that an answer to the refresh of this one did not arrive.
    public mutating func noteLostAnswer(of entry: Entry) {
        guard let index = entries.firstIndex(of: entry) else { return }
        entries[index].isAnswerLost = true
    }

    /// Ends the life of an access token that a server refused; what can be refreshed stays.
    public mutating func drop(access value: SecretBytes) {
        entries = entries.compactMap { entry in
            guard entry.access.value == value else { return entry }
            guard entry.refresh != nil else { return nil }
            var ended = entry
            ended.access = HeldToken(
                value: entry.access.value, lifetime: -1, scope: entry.access.scope, at: entry.access.receivedAt,
                uptime: .zero)
            return ended
        }
    }
}
