import Glibc
import LocalAPI

extension AccessPolicy {
    /// Turns the names of users and groups in the settings into numbers.
    ///
    /// - Throws: ``ConfigurationError/unknownPeer(name:)``
    package init(_ settings: APISettings) throws(ConfigurationError) {
        self.init(owners: [0, getuid()])
        grants[.read] = try Self.grant(settings.read)
        grants[.publish] = try Self.grant(settings.publish)
        grants[.operate] = try Self.grant(settings.operate)
        if !settings.group.isEmpty { socketGroup = try Self.group(settings.group) }
    }

    /// - Returns: `nil` for the empty name.
    /// - Throws: ``ConfigurationError/unknownPeer(name:)``
    package static func optionalGroup(_ name: String) throws(ConfigurationError) -> UInt32? {
        name.isEmpty ? nil : try group(name)
    }

    /// Whether a user, or a group after `@`, that the settings name exists on this machine.
    package static func knows(_ name: String) -> Bool { (try? grant([name])) != nil }

    private static func grant(_ names: [String]) throws(ConfigurationError) -> AccessRight {
        var grant = AccessRight()
        for name in names {
            if name.hasPrefix("@") {
                // The package's own group is missing if the agent was only built, not installed.
                if name == "@latchkey", getgrnam("latchkey") == nil { continue }
                grant.groups.insert(try group(String(name.dropFirst())))
            } else {
                guard let user = getpwnam(name) else { throw .unknownPeer(name: name) }
                grant.users.insert(user.pointee.pw_uid)
            }
        }
        return grant
    }

    private static func group(_ name: String) throws(ConfigurationError) -> UInt32 {
        guard let group = getgrnam(name) else { throw .unknownPeer(name: "@\(name)") }
        return group.pointee.gr_gid
    }
}
