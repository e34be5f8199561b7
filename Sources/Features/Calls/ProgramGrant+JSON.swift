import AgentCore
import Gateway
import Groundwork
import HTTPClient
import LocalAPI

/// A grant as the local API and the vault have it.
extension ProgramGrant {
    /// - Parameter uses: since the agent started, where that is known.
    package func json(isInSettings: Bool, uses: Int64? = nil) -> JSON {
        var members: [String: JSON] = [
            "id": .string(id), "verdict": .string(verdict.rawValue),
            "as": .array(principals.map(\.rawValue).sorted().map(JSON.string)),
            "accounts": .array(accounts.sorted().map(JSON.string)), "hosts": .array(hosts.sorted().map(JSON.string)),
            "paths": .array(paths.map(JSON.string)), "scopes": .array(scopes.sorted().map(JSON.string)),
            "token": .bool(token), "store": .bool(store),
            "storeOf": .array(storeOf.sorted().map { .integer(Int64($0)) }), "inSettings": .bool(isInSettings),
        ]
        members["uid"] = subject.uid.map { .integer(Int64($0)) }
        members["gid"] = subject.gid.map { .integer(Int64($0)) }
        members["unit"] = subject.unit.map(JSON.string)
        members["uses"] = uses.map(JSON.integer)
        return .object(members)
    }

    /// - Throws: ``AgentError/badRequest(member:fault:)``
    package init(json: JSON, id: String) throws(AgentError) {
        self.init(id: id)
        func number(_ member: String) throws(AgentError) -> UInt32? {
            guard let value = json[member], value != .null else { return nil }
            guard let number = value.integer, (0..<Int64(UInt32.max)).contains(number) else {
                throw .badRequest(member: member, fault: "is not a user ID or a group ID")
            }
            return UInt32(number)
        }
        func texts(_ member: String, _ isValid: (String) -> Bool) throws(AgentError) -> [String]? {
            guard let value = json[member], value != .null else { return nil }
            guard let list = value.array, list.count <= Self.elementLimit else {
                throw .badRequest(member: member, fault: "is not an array of at most \(Self.elementLimit)")
            }
            let texts = list.compactMap(\.string)
            guard texts.count == list.count, texts.allSatisfy({ $0.utf8.count <= Self.textLimit && isValid($0) }) else {
                throw .badRequest(member: member, fault: "contains something that is not allowed here")
            }
            return texts
        }
        (subject.uid, subject.gid) = (try number("uid"), try number("gid"))
        if let value = json["unit"], value != .null {
            guard let unit = value.string, Self.isUnit(unit) else {
                throw .badRequest(member: "unit", fault: "is not the name of a service or a scope")
            }
            subject.unit = unit
        }
        guard !subject.isEmpty else { throw .badRequest(member: "the grant", fault: "names no user, group or unit") }
        if let value = json["verdict"], value != .null {
            guard let named = value.string.flatMap(Verdict.init) else {
                throw .badRequest(member: "verdict", fault: "is neither allow nor never")
            }
            verdict = named
        }
        if verdict == .never { (principals, accounts, hosts) = (Set(Principal.allCases), [], []) }
        func flag(_ member: String) throws(AgentError) -> Bool {
            guard let value = json[member], value != .null else { return false }
            guard let flag = value.bool else { throw .badRequest(member: member, fault: "is neither true nor false") }
            return flag
        }
        (token, store) = (try flag("token"), try flag("store"))
        if let value = json["storeOf"], value != .null {
            let numbers = (value.array ?? [.null]).map { $0.integer.flatMap { UInt32(exactly: $0) } }
            guard numbers.count <= Self.elementLimit, !numbers.contains(nil) else {
                throw .badRequest(member: "storeOf", fault: "is not an array of at most \(Self.elementLimit) user IDs")
            }
            storeOf = Set(numbers.compactMap { $0 })
        }
        let isOfCalls = token || Self.membersOfCalls.contains { json[$0] ?? .null != .null }
        if isOfStore, verdict == .allow, !isOfCalls { allowOnlyStore() }
        if let names = try texts("as", { Principal(rawValue: $0) != nil }) {
            principals = Set(names.compactMap(Principal.init))
        }
        if let names = try texts("accounts", { AccountName($0) != nil }) { accounts = Set(names) }
        if let names = try texts("hosts", { Self.host($0) != nil }) { hosts = Set(names.compactMap(Self.host)) }
        if let patterns = try texts("paths", Self.isPath) { paths = patterns }
        if let names = try texts("scopes", Self.isScope) { scopes = Set(names) }
        guard !principals.isEmpty else { throw .badRequest(member: "as", fault: "is empty") }
    }

    /// What only a grant about calls has, beside the token.
    private static let membersOfCalls = ["as", "accounts", "hosts", "paths", "scopes"]

    /// The most elements of each list, and the most bytes of each.
    package static let (elementLimit, textLimit) = (32, 512)

    package static func isUnit(_ text: String) -> Bool {
        (text.hasSuffix(".service") || text.hasSuffix(".scope")) && text.utf8.count <= 255
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") }
    }

    /// A `scope-token` (RFC 6749 section 3.3).
    package static func isScope(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= textLimit
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }

    /// `gateway`, or a host with its port, which is 443 if it is not given.
    package static func host(_ text: String) -> String? {
        if text == gatewayHost { return text }
        let parts = HostName.split(text)
        guard !parts.host.isEmpty,
            parts.host.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") })
        else { return nil }
        guard let port = parts.port.map({ Int($0) }) ?? 443, (1...65_535).contains(port) else { return nil }
        return "\(HostName.canonical(parts.host) ?? parts.host.lowercased()):\(port)"
    }
}

extension Schema {
    package static var grantMembers: [String: Schema] {
        [
            "uid": .integer("user ID of its programs"), "gid": .integer("ID of a group of its programs"),
            "unit": .string("systemd unit in which its programs run"),
            "verdict": .string(
                "never: refuse what the grant names, without asking",
                choices: ProgramGrant.Verdict.allCases.map(\.rawValue)),
            "as": .array(
                of: .string("whose token", choices: Principal.allCases.map(\.rawValue)),
                "board by default; for never: both"),
            "accounts": .array(of: .accountName, "gateway by default; for never: all"),
            "hosts": .array(
                of: .string("gateway, or host:port of a configured host"),
                "gateway by default; for never: all"),
            "paths": .array(of: .string("a path, or a prefix that ends with /*"), "/* by default"),
            "scopes": .array(
                of: .string("scope that may be requested beyond the configured ones"),
                "none by default; for never: all"),
            "token": .boolean("whether its programs may get the token itself"),
            "store": .boolean("whether its programs may use keys and credentials that are stored for their user"),
            "storeOf": .array(
                of: .integer("user ID", in: 0...Int64(UInt32.max)),
                "other users whose keys and credentials its programs may use; none by default"),
        ]
    }

    package static var grant: Schema {
        named(
            "Grant",
            .object(
                grantMembers.merging([
                    "id": .string("a name in the settings, or a number"),
                    "inSettings": .boolean("whether only the settings file can change it"),
                    "uses": .integer("uses since the agent started; only in the list"),
                ]) { own, _ in own },
                required: [
                    "id", "verdict", "as", "accounts", "hosts", "paths", "scopes", "token", "store", "storeOf",
                    "inSettings",
                ], "What some programs may do in the name of the board or its user"))
    }
}
