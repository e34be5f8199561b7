@_spi(KeyBytes) import Cryptography
import FoundationEssentials
import Groundwork

/// The records of identities. Each function is one turn: nothing comes between what it checks and what it writes.
extension Vault {
    /// Those that can be read.
    ///
    /// - Returns: also the names of the others.
    func identities() throws(VaultError) -> (all: [ClientIdentity], unreadable: [String]) {
        var (all, unreadable) = ([ClientIdentity](), [String]())
        for name in try scopes().compactMap(ClientIdentity.name(ofScope:)) {
            do throws(VaultError) {
                guard let record = try record(ClientIdentity.record(of: name)) else { continue }
                guard let identity = ClientIdentity(named: name, decoding: record.content) else {
                    unreadable.append(name)
                    continue
                }
                all.append(identity)
            } catch {
                guard error.isOfRecord || error.isOfLevel else { throw error }
                unreadable.append(name)
            }
        }
        return (all, unreadable)
    }

    func identity(_ name: String) throws(VaultError) -> ClientIdentity {
        guard ClientIdentity.isName(name), let record = try record(ClientIdentity.record(of: name)) else {
            throw .identity(.unknown(name: DisplayText.oneLine(name, limit: 64)))
        }
        guard let identity = ClientIdentity(named: name, decoding: record.content) else {
            throw .identity(.unreadable(name: name))
        }
        return identity
    }

    func checkNewIdentity(_ name: String) throws(VaultError) {
        guard ClientIdentity.isName(name) else { throw .identity(.nameInvalid(name: name)) }
        let names = Set(try scopes().compactMap(ClientIdentity.name(ofScope:)))
        guard try record(ClientIdentity.record(of: name)) == nil else { throw .identity(.nameTaken(name: name)) }
        guard names.count < IdentityStore.limit else { throw .identity(.tooMany(limit: IdentityStore.limit)) }
    }

    func addRequested(_ identity: ClientIdentity) throws(VaultError) {
        try checkNewIdentity(identity.name)
        try write([identity.change])
    }

    func addIdentities(
        _ found: [IdentityFile.Found], named name: String?, hosts: [String], level: ProtectionLevel, at now: Date
    ) throws(VaultError) -> [ClientIdentity] {
        if let name { try checkNewIdentity(name) }
        let (there, unreadable) = try identities()
        guard there.count + unreadable.count + found.count <= IdentityStore.limit else {
            throw .identity(.tooMany(limit: IdentityStore.limit))
        }
        var (names, added, changes) = (Set(there.map(\.name) + unreadable), [ClientIdentity](), [Change]())
        for found in found {
            guard let leaf = found.identity.chain.first else { continue }
            if let same = there.first(where: { $0.certificate == leaf }) {
                throw .identity(.certificateTaken(name: same.name))
            }
            guard leaf.notAfter > now else { throw .identity(.expired(leaf)) }
            let name = Self.freeName(name ?? found.suggestedName, besides: names)
            names.insert(name)
            guard let key = KeyReference(.software, name: name) else { throw .identity(.nameInvalid(name: name)) }
            let identity = ClientIdentity(
                name: name, key: key, level: level, chain: found.identity.chain, hosts: [])
            let content = try explained { try found.identity.key.pkcs8() }
            changes.append(.put(key.record(in: ClientIdentity.scope(of: name)), .privateKey, content, level: level))
            added.append(identity)
        }
        if !hosts.isEmpty, !added.isEmpty {
            changes += try Self.giving(hosts, to: &added[0], from: there)
        }
        try write(changes + added.map(\.change))
        return added
    }

    /// - Returns: the changes of the other identities.
    private static func giving(
        _ hosts: [String], to identity: inout ClientIdentity, from others: [ClientIdentity]
    ) throws(VaultError) -> [Change] {
        identity.hosts = Set(hosts).sorted()
        guard identity.hosts.count <= ClientIdentity.hostLimit else {
            throw .identity(.tooManyHosts(limit: ClientIdentity.hostLimit))
        }
        return others.filter { $0.name != identity.name && !Set($0.hosts).isDisjoint(with: hosts) }.map { other in
            var other = other
            other.hosts.removeAll { hosts.contains($0) }
            return other.change
        }
    }

    private static func freeName(_ wanted: String, besides taken: Set<String>) -> String {
        guard taken.contains(wanted) else { return wanted }
        let stem = wanted.prefix(ClientIdentity.nameLimit - 3)
        return (2...IdentityStore.limit + 1).lazy.map { "\(stem)-\($0)" }.first { !taken.contains($0) } ?? wanted
    }

    /// - Parameter identity: as it was when its key was compared with the certificate.
    func install(_ chain: [Certificate], in identity: ClientIdentity) throws(VaultError) -> ClientIdentity {
        var found = try self.identity(identity.name)
        guard found.key == identity.key else { throw .identity(.unknown(name: identity.name)) }
        found.chain = chain
        try write([found.change])
        return found
    }

    func useIdentity(_ name: String, for hosts: [String]) throws(VaultError) -> ClientIdentity {
        var identity = try identity(name)
        let changes = try Self.giving(hosts, to: &identity, from: identities().all)
        try write(changes + [identity.change])
        return identity
    }

    func removeIdentity(_ name: String) throws(VaultError) {
        // One that cannot be read goes, too, with every key of its scope.
        guard ClientIdentity.isName(name) else { throw .identity(.unknown(name: DisplayText.oneLine(name, limit: 64))) }
        let records = try names(scope: ClientIdentity.scope(of: name))
        guard records.contains(ClientIdentity.record(of: name)) else { throw .identity(.unknown(name: name)) }
        try write(records.map(Change.remove))
    }
}

extension IdentityFile.Found {
    /// From what the file calls it, else from the common name.
    fileprivate var suggestedName: String {
        name.flatMap(ClientIdentity.name(from:))
            ?? identity.chain.first?.subject[.commonName].flatMap(ClientIdentity.name(from:)) ?? "identity"
    }
}
