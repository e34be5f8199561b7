import Cryptography
import Groundwork
import Storage

extension VaultError {
    /// Whether it is of a record that needs the passcode.
    public var isOfLevel: Bool {
        if case .levelLocked = self { true } else { false }
    }

    public var explanation: Explanation {
        switch self {
        case .missing(let path):
            Explanation(
                "vault.missing", .configuration, "there is no vault \(path)",
                remedy: "check the state directory, or enroll this board")
        case .fileDamaged(let path, let detail):
            Explanation(
                "vault.file-damaged", .damaged, "vault \(path) is damaged: \(detail)",
                remedy: Self.restoreOrEnroll)
        case .newerVersion(let path, let found, let supported):
            Explanation(
                "vault.newer-version", .unavailable,
                "vault \(path) has version \(found), newer than the \(supported) this program knows",
                remedy: "install the newer program again, or restore the vault from before the update")
        case .permissionsTooOpen(let path, let mode):
            Explanation(
                "vault.permissions-too-open", .configuration,
                "\(path) is accessible to users other than its owner (mode \(String(mode, radix: 8)))",
                remedy: "run: chmod 600 \(path)")
        case .manifestDamaged(let path):
            Explanation(
                "vault.manifest-damaged", .damaged, "the list of records in vault \(path) is damaged",
                remedy: Self.restoreOrEnroll)
        case .manifestRolledBack(let path):
            Explanation(
                "vault.manifest-rolled-back", .damaged,
                "vault \(path) was replaced by an older copy while in use",
                remedy: "find out who replaced the file; restart the agent to use the older copy")
        case .closed(let path): Explanation("vault.closed", .temporary, "vault \(path) is closed")
        case .locked(let path):
            Explanation(
                "vault.locked", .conflict, "vault \(path) is locked",
                remedy: "unlock it with the key of one of its slots")
        case .levelLocked(let path, let level):
            Explanation(
                "vault.locked", .conflict, "the records of level \(level.rawValue) in vault \(path) are locked",
                remedy: "unlock them with the passcode: latchkey vault unlock", gateway: .local(130_008),
                numbers: [ClientNumber(.secureStore, 6)])
        case .otherBoard(_, let known, let found):
            Explanation(
                "vault.other-board", .conflict,
                "the identity belongs to another board, with serial number \(known); this board's is \(found)",
                remedy: "if this board takes the other one's place: latchkey identity adopt; if its card is a copy: "
                    + "latchkey identity discard, then enroll it",
                meaning: "the state directory came from another board, with the card or a copy of it; two boards with "
                    + "one identity would end each other's connections, so nothing is sent until a person decides")
        case .noSlotOpens(let path, let tried):
            Explanation(
                "vault.no-slot-opens", .configuration,
                tried.isEmpty
                    ? "cannot open vault \(path): no key was offered"
                    : "cannot open vault \(path): no slot opens with \(tried.map(\.rawValue).joined(separator: ", "))",
                remedy: "check that the credential, passphrase or key file is the one this vault was sealed with",
                meaning: "none of the given keys fits a slot of the vault")
        case .slotDamaged(let path, let id, let kind):
            Explanation(
                "vault.slot-damaged", .damaged, "slot \(id) (\(kind)) of vault \(path) is damaged",
                remedy: "open the vault by another slot and renew this one, or restore a copy of the vault")
        case .slotParametersRefused(let kind):
            Explanation(
                "vault.slot-parameters-refused", .damaged,
                "a \(kind) slot asks for more memory or time than is allowed",
                remedy: "restore a copy of the vault; this one has been changed")
        case .slotUnknown(let path, let id):
            Explanation("vault.slot-unknown", .notFound, "vault \(path) has no slot \(id)")
        case .lastSlot(let path, let id):
            Explanation(
                "vault.last-slot", .conflict, "slot \(id) is the last one that opens vault \(path)",
                remedy: "add another slot first")
        case .onlyDevelopmentSlots(let path, let id):
            Explanation(
                "vault.only-development-slots", .conflict,
                "without slot \(id), only development key files would open vault \(path), which protect nothing",
                remedy: "add another slot first, or remove this one with --force")
        case .slotsLeft(let path, let ids):
            Explanation(
                "vault.slots-left", .conflict,
                "vault \(path) has other slots, which a new root key would leave without effect: "
                    + ids.map(String.init).joined(separator: ", "),
                remedy: "name each with --drop, and add them again afterwards: latchkey vault add")
        case .tooManySlots(let path, let limit):
            Explanation(
                "vault.too-many-slots", .conflict,
                "vault \(path) has \(limit) slots already, the maximum",
                remedy: "remove a slot first")
        case .credentialMissing(let name, let directory):
            Explanation(
                "vault.credential-missing", .configuration,
                directory.map { "there is no credential \(name) in \($0)" }
                    ?? "systemd handed over no credential \(name): CREDENTIALS_DIRECTORY is not set",
                remedy: "run the agent as latchkey.service, with LoadCredentialEncrypted= for it in the unit; "
                    + "for development set vault.slot to development-key-file")
        case .keyFileMissing(let path):
            Explanation(
                "vault.key-file-missing", .configuration, "there is no key file \(path)",
                remedy: "put the key file back; without it, move the vault away and enroll this board again")
        case .keyFileOfOther(let path, let owner):
            Explanation(
                "vault.key-file-of-other", .configuration,
                "key file \(path) belongs to another user (uid \(owner))",
                remedy: "give the file to the agent's user or to root")
        case .keyUnreadable(let path, let reason):
            Explanation(
                "vault.key-unreadable", .configuration, "cannot read key \(path): \(reason)",
                remedy: "check that the agent's user may read the file")
        case .keyUnwritable(let path, let reason):
            Explanation(
                "vault.key-unwritable", .configuration, "cannot make key file \(path): \(reason)",
                remedy: "check that the directory exists and that the agent's user may write to it")
        case .keyLength(let path, let bytes, let least, let most):
            Explanation(
                "vault.key-length", .configuration,
                "key \(path) has \(bytes) bytes; \(least) to \(most) are allowed",
                remedy: Self.newKey)
        case .credentialLength(let bytes, let least, let most):
            Explanation(
                "vault.credential-length", .invalidInput,
                "the credential has \(bytes) bytes; \(least) to \(most) are allowed", remedy: Self.newKey)
        case .passphraseEmpty: Explanation("vault.passphrase-empty", .invalidInput, "the passphrase is empty")
        case .passphraseShort(let bytes, let least):
            Explanation(
                "vault.passphrase-short", .invalidInput,
                "the passphrase has \(bytes) bytes; a new slot needs at least \(least)",
                remedy: "use a longer one, such as six words that were drawn at random")
        case .recordDamaged(let name):
            Explanation("vault.record-damaged", .damaged, "record \(name) is damaged", remedy: Self.restoreOrReset)
        case .recordDisplaced(let name):
            Explanation(
                "vault.record-displaced", .damaged,
                "record \(name) was replaced by something sealed for another place", remedy: Self.restoreOrReset)
        case .recordRolledBack(let name):
            Explanation(
                "vault.record-rolled-back", .damaged, "an earlier state of record \(name) was put back",
                remedy: Self.restoreOrReset)
        case .recordMissing(let name):
            Explanation(
                "vault.record-missing", .damaged, "record \(name) was taken out of the vault",
                remedy: Self.restoreOrReset)
        case .recordIsKey(let name):
            Explanation(
                "vault.record-is-key", .internal, "record \(name) is a private key, which only the key store may use")
        case .keyInvalid(let name):
            Explanation(
                "vault.key-invalid", .damaged, "record \(name) is not a private key", remedy: Self.restoreOrReset)
        case .keeperMissing(let keeper):
            Explanation(
                "vault.keeper-missing", .configuration,
                "a key is \(keeper.place), which this program is not set up to use",
                remedy: "name it in the settings again, see the table [\(keeper.rawValue)] of latchkey.toml")
        case .keyExists(let name): Explanation("vault.key-exists", .internal, "a key \(name) already exists")
        case .nameNotAllowed(let name, let kind):
            Explanation(
                "vault.name-not-allowed", .internal,
                "record name \(name)\(kind.map { " (kind \($0.rawValue))" } ?? "") is empty, too long or has characters "
                    + "that are not allowed")
        case .contentTooLong(let name, let bytes, let limit):
            Explanation("vault.content-too-long", .tooLarge, "record \(name) has \(bytes) bytes; \(limit) are allowed")
        case .valueChanged(let name):
            Explanation(
                "vault.value-changed", .conflict, "record \(name) was written again or removed meanwhile",
                remedy: "read it again")
        case .tooManyRecords(let path, let limit):
            Explanation("vault.too-many-records", .conflict, "vault \(path) can hold no more than \(limit) records")
        case .export(let error): error.explanation
        case .storage(let error): error.explanation
        case .cryptography(let error): error.explanation
        case .chip(let error): error.explanation
        case .token(let error): error.explanation
        case .passcode(let error): error.explanation
        case .rollback(let error): error.explanation
        case .identity(let error): error.explanation
        }
    }

    private static let newKey = "make a new one with: head -c 32 /dev/urandom"
    private static let restoreOrEnroll =
        "restore a copy of the vault; without one, move it away and enroll this board again"
    private static let restoreOrReset = "restore a copy of the vault, or reset the registration it belongs to"

    public static let examples: [VaultError] = [
        .missing(path: "PATH"), .fileDamaged(path: "PATH", detail: "REASON"),
        .newerVersion(path: "PATH", found: 9, supported: 1),
        .permissionsTooOpen(path: "PATH", mode: 0o644), .manifestDamaged(path: "PATH"),
        .manifestRolledBack(path: "PATH"),
        .closed(path: "PATH"), .locked(path: "PATH"), .levelLocked(path: "PATH", level: .unlocked),
        .otherBoard(path: "PATH", known: "SERIAL", found: "OTHER"),
        .noSlotOpens(path: "PATH", tried: [.systemdCredential]),
        .slotDamaged(path: "PATH", id: 1, kind: .passphrase), .slotParametersRefused(kind: .passphrase),
        .slotUnknown(path: "PATH", id: 7), .lastSlot(path: "PATH", id: 1), .tooManySlots(path: "PATH", limit: 16),
        .slotsLeft(path: "PATH", ids: [2]), .onlyDevelopmentSlots(path: "PATH", id: 2),
        .credentialMissing(name: "NAME", directory: nil), .credentialMissing(name: "NAME", directory: "DIRECTORY"),
        .keyFileMissing(path: "PATH"), .keyFileOfOther(path: "PATH", owner: 1000),
        .keyUnreadable(path: "PATH", reason: "REASON"),
        .keyUnwritable(path: "PATH", reason: "REASON"), .keyLength(path: "PATH", bytes: 8, least: 32, most: 4096),
        .credentialLength(bytes: 8, least: 32, most: 4096), .passphraseEmpty, .passphraseShort(bytes: 8, least: 16),
        .recordDamaged(name: placeholder), .recordDisplaced(name: placeholder), .recordRolledBack(name: placeholder),
        .recordMissing(name: placeholder), .recordIsKey(name: placeholder),
        .keyInvalid(name: placeholder), .keyExists(name: placeholder),
        .keeperMissing(.pkcs11), .nameNotAllowed(name: placeholder, kind: nil),
        .contentTooLong(name: placeholder, bytes: 2_000_000, limit: 1_048_576),
        .valueChanged(name: placeholder), .tooManyRecords(path: "PATH", limit: 1024),
        .export(.exists(path: "PATH")), .storage(.full(path: "PATH")), .cryptography(.notAuthentic),
        .chip(.absent(place: "TCTI")), .token(.noToken(uri: "URI")),
        .passcode(.busy), .rollback(.rolledBack), .identity(.unknown(name: "NAME")),
    ]

    private static let placeholder = RecordName(scope: "GATEWAY", name: "RECORD")
}
