import Vault

/// The settings below have a `Slot` of their own.
package typealias SlotKind = Slot.Kind

/// How the vault is opened, and what hardware it may use.
package struct VaultSettings: Sendable, Equatable {
    package enum Slot: String, Sendable, CaseIterable {
        /// A credential that systemd provides (`LoadCredentialEncrypted=`).
        case systemdCredential = "systemd-credential"
        /// A passphrase, in a credential or a file of mode 0600.
        case passphrase
        /// A secret that this board's TPM has sealed.
        case tpm
        /// A key pair on a PKCS#11 token.
        case pkcs11
        /// A key file beside the vault, for development.
        case developmentKeyFile = "development-key-file"

        /// The kind of the slots that it opens.
        package var kind: SlotKind {
            switch self {
            case .systemdCredential: .systemdCredential
            case .passphrase: .passphrase
            case .tpm: .tpm
            case .pkcs11: .pkcs11
            case .developmentKeyFile: .developmentFile
            }
        }
    }

    /// What an export of the vault may have.
    package enum Export: String, Sendable, CaseIterable {
        case withoutIdentity = "without-identity"
        case withIdentity = "with-identity"
        /// There are no exports.
        case off
    }

    /// What an earlier copy of the vault leads to, which a counter in the TPM shows.
    package enum Rollback: String, Sendable, CaseIterable {
        /// It is reported, and the agent goes on; no passcode is tried.
        case report
        /// The agent waits for a person.
        case refuse
        /// There is no counter.
        case off
    }

    /// What opens the vault, tried in this order. A new vault gets a slot for each.
    package var slots = [Slot.systemdCredential]
    /// Name of the credential below `$CREDENTIALS_DIRECTORY`.
    package var credential = "latchkey-vault"
    /// File of the passphrase; empty: the credential holds it.
    package var passphraseFile = ""
    /// Path of the development key; empty: `vault.key` in the state directory.
    package var developmentKeyFile = ""
    package var export = Export.withoutIdentity
    package var rollback = Rollback.report
    package var tpm = TPMSettings()
    package var token = TokenSettings()
}

/// The board's TPM.
package struct TPMSettings: Sendable, Equatable {
    /// How it is reached: a TCTI of tpm2-tss, such as `device:/dev/tpmrm0`.
    package var connection = Chip.usualPlace
    /// Registers (PCRs) of the SHA-256 bank that a new slot is bound to; usually none.
    package var registers: [Int] = []

    /// Those that there are.
    package static let registers = 0...23

    package var chip: Chip { Chip(at: connection) }
}

/// A PKCS#11 token.
package struct TokenSettings: Sendable, Equatable {
    /// Path of its vendor's library; empty: there is no token.
    package var module = ""
    /// The token, and the key on it that opens the vault (RFC 7512).
    package var uri = ""
    /// Name of the credential with its PIN, below `$CREDENTIALS_DIRECTORY`.
    package var pinCredential = "latchkey-pin"
    /// File of the PIN; empty: the credential holds it.
    package var pinFile = ""

    package var location: TokenURI? { uri.isEmpty ? nil : try? TokenURI(uri) }
}

/// Where the keys of the board's identity are made from now on.
package struct IdentitySettings: Sendable, Equatable {
    /// `software`, `tpm`, `pkcs11`, or the URI of a token or of a key that is on one.
    package var key = KeyReference.Keeper.software.rawValue
    package var kind = KeyChoice.Kind.rsa

    private static let scheme = "pkcs11:"

    package var choice: KeyChoice {
        KeyChoice(
            keeper: key.hasPrefix(Self.scheme) ? .pkcs11 : KeyReference.Keeper(rawValue: key) ?? .software, kind: kind)
    }

    /// The token or key, if ``key`` is a URI.
    package var location: TokenURI? { key.hasPrefix(Self.scheme) ? try? TokenURI(key) : nil }
}
