import Vault

/// What a copy of the vault has of a feature's records.
package struct RecordRules: Sendable {
    /// Records of this board alone, whatever identity it has. They are never taken from an export.
    package var bound: Set<RecordName> = []
    /// Records that a board without an account may have. They are taken from an export unless the board has its own.
    package var kept: Set<RecordName> = []
    /// Which records make an identity, beside private keys.
    package var isIdentity: Vault.IdentityRule = { _, _, _ in false }

    package init() {}

    /// - Parameter isIdentity: which records make an identity, beside private keys.
    package init(
        bound: Set<RecordName> = [], kept: Set<RecordName> = [],
        isIdentity: @escaping Vault.IdentityRule = { _, _, _ in false }
    ) {
        (self.bound, self.kept, self.isIdentity) = (bound, kept, isIdentity)
    }

    /// What all features together say.
    init(of features: [any Feature.Type]) {
        let rules = features.map { $0.recordRules }
        bound = rules.reduce(into: []) { $0.formUnion($1.bound) }
        kept = rules.reduce(into: []) { $0.formUnion($1.kept) }
        isIdentity = { name, kind, keyScopes in rules.contains { $0.isIdentity(name, kind, keyScopes) } }
    }
}
