public import Cryptography
public import FoundationEssentials
import Groundwork

/// The identities of this board beside those that gateways gave it: imported ones, and ones that were requested with a
/// key made here.
public struct IdentityStore: Sendable {
    /// The maximum number of identities.
    public static let limit = 32

    private let vault: Vault

    public init(_ vault: Vault) { self.vault = vault }

    /// Those that can be read, sorted by name.
    /// - Throws: ``VaultError``
    public func all() async throws(VaultError) -> [ClientIdentity] { try await vault.identities().all }

    /// Checks that all of them can be read.
    /// - Throws: ``VaultError``; ``IdentityError/unreadable(name:)``
    public func check() async throws(VaultError) {
        if let name = try await vault.identities().unreadable.first { throw .identity(.unreadable(name: name)) }
    }

    /// - Throws: ``VaultError``; ``IdentityError/unknown(name:)``
    public func identity(_ name: String) async throws(VaultError) -> ClientIdentity {
        try await vault.identity(name)
    }

    /// Stores every identity of a file, or none. They are on disk when this returns.
    ///
    /// - Parameters:
    ///   - file: PKCS#12 or PEM, at most `IdentityFile.limit` bytes.
    ///   - name: of the first; `nil` for names from the file or the certificates. More have a number after it.
    ///   - hosts: the servers, as `host:port`, that the first is shown to from now on.
    ///   - level: when they can be used.
    /// - Throws: ``VaultError``; ``IdentityError``; `CryptographyError`, as `IdentityFile` does
    public func add(
        from file: SecretBytes, password: SecretBytes, named name: String?, hosts: [String],
        level: ProtectionLevel = .always, at now: Date
    ) async throws(VaultError) -> [ClientIdentity] {
        let found: [IdentityFile.Found]
        do throws(CryptographyError) {
            found = try await KeyMaker.shared.identities(in: file, password: password)
        } catch {
            throw .cryptography(error)
        }
        return try await vault.addIdentities(found, named: name, hosts: hosts, level: level, at: now)
    }

    /// Makes a key, and a request for a certificate of it. The identity is there from then on, and of use once
    /// ``install(_:in:at:)`` has its certificate.
    ///
    /// - Throws: ``VaultError``; ``IdentityError``
    public func request(
        _ name: String, for subject: DistinguishedName, _ choice: KeyChoice, level: ProtectionLevel = .always
    ) async throws(VaultError) -> CertificateRequest {
        try await vault.checkNewIdentity(name)
        let keys = vault.keys(of: ClientIdentity.scope(of: name))
        // What a crash has left before its identity was stored.
        try await keys.sweep(keeping: [])
        let made = try await keys.make(choice.algorithm(rsaBits: 2048), label: name, in: choice.keeper)
        do throws(VaultError) {
            let request: CertificateRequest
            do throws(CryptographyError) {
                request = try await KeyMaker.shared.request(subject, key: made.key)
            } catch {
                throw .cryptography(error)
            }
            try await vault.addRequested(
                ClientIdentity(name: name, key: made.reference, level: level, chain: [], hosts: []))
            return request
        } catch {
            // The first error counts; a key that stays is swept by the next request of this name.
            do throws(VaultError) { try await vault.commit(keys.removal(of: made.reference)) } catch {}
            throw error
        }
    }

    /// Gives an identity the certificate for its key, in place of the one that it has.
    ///
    /// - Parameter certificates: in any order; those that do not belong to it are not kept.
    /// - Throws: ``VaultError``; ``IdentityError``; `CryptographyError.noCertificateFits(_:)`
    public func install(
        _ certificates: [Certificate], in name: String, at now: Date
    ) async throws(VaultError) -> ClientIdentity {
        let identity = try await vault.identity(name)
        guard let key = try await vault.keys(of: ClientIdentity.scope(of: name)).key(identity.key) else {
            throw .identity(.unreadable(name: name))
        }
        let chain = IdentityFile.chain(of: key.publicKey, in: certificates)
        guard let leaf = chain.first else { throw .cryptography(.noCertificateFits(.identityFile)) }
        guard leaf.notAfter > now else { throw .identity(.expired(leaf)) }
        return try await vault.install(chain, in: identity)
    }

    /// Has servers be shown an identity, and no other one; the servers that it was shown to before are not.
    ///
    /// - Parameter hosts: as `host:port`; none for no server.
    /// - Throws: ``VaultError``; ``IdentityError``
    public func use(_ name: String, for hosts: [String]) async throws(VaultError) -> ClientIdentity {
        try await vault.useIdentity(name, for: hosts)
    }

    /// Removes an identity with its key.
    /// - Throws: ``VaultError``; ``IdentityError/unknown(name:)``
    public func remove(_ name: String) async throws(VaultError) { try await vault.removeIdentity(name) }

    /// What a TLS client shows; `nil` before the certificate of a requested identity is installed.
    /// - Throws: ``VaultError``
    public func shown(_ identity: ClientIdentity) async throws(VaultError) -> TLSIdentity? {
        guard !identity.chain.isEmpty else { return nil }
        guard let key = try await vault.keys(of: ClientIdentity.scope(of: identity.name)).key(identity.key) else {
            throw .identity(.unreadable(name: identity.name))
        }
        return TLSIdentity(key: key, chain: identity.chain)
    }
}

extension IdentityError {
    static func expired(_ certificate: Certificate) -> IdentityError {
        .expired(subject: DisplayText.oneLine(certificate.subject.description, limit: 200), end: certificate.notAfter)
    }
}
