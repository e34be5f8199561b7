import Cryptography
import Groundwork
import Storage

extension VaultError {
    public var code: String {
        switch self {
        case .missing: "vault.missing"
        case .fileDamaged: "vault.file-damaged"
        case .newerVersion: "vault.newer-version"
        case .permissionsTooOpen: "vault.permissions-too-open"
        case .manifestDamaged: "vault.manifest-damaged"
        case .manifestRolledBack: "vault.manifest-rolled-back"
        case .closed: "vault.closed"
        case .noSlotOpens: "vault.no-slot-opens"
        case .slotDamaged: "vault.slot-damaged"
        case .slotParametersRefused: "vault.slot-parameters-refused"
        case .slotUnknown: "vault.slot-unknown"
        case .lastSlot: "vault.last-slot"
        case .tooManySlots: "vault.too-many-slots"
        case .credentialMissing: "vault.credential-missing"
        case .keyFileMissing: "vault.key-file-missing"
        case .keyFileOfOther: "vault.key-file-of-other"
        case .keyUnreadable: "vault.key-unreadable"
        case .keyUnwritable: "vault.key-unwritable"
        case .keyLength: "vault.key-length"
        case .credentialLength: "vault.credential-length"
        case .passphraseEmpty: "vault.passphrase-empty"
        case .passphraseShort: "vault.passphrase-short"
        case .recordDamaged: "vault.record-damaged"
        case .recordDisplaced: "vault.record-displaced"
        case .recordRolledBack: "vault.record-rolled-back"
        case .recordMissing: "vault.record-missing"
        case .nameNotAllowed: "vault.name-not-allowed"
        case .contentTooLong: "vault.content-too-long"
        case .tooManyRecords: "vault.too-many-records"
        case .storage(let error): error.code
        case .cryptography(let error): error.code
        }
    }

    public var message: String {
        switch self {
        case .missing(let path): "there is no vault \(path)"
        case .fileDamaged(let path, let detail): "vault \(path) is damaged: \(detail)"
        case .newerVersion(let path, let found, let supported):
            "vault \(path) has version \(found), newer than the \(supported) this program knows"
        case .permissionsTooOpen(let path, let mode):
            "\(path) is open to others than its owner (mode \(String(mode, radix: 8)))"
        case .manifestDamaged(let path): "the list of records in vault \(path) is damaged"
        case .manifestRolledBack(let path): "vault \(path) was replaced by an older copy while in use"
        case .closed(let path): "vault \(path) is closed"
        case .noSlotOpens(let path, let tried):
            tried.isEmpty
                ? "cannot open vault \(path): no key was offered"
                : "cannot open vault \(path): no slot opens with \(tried.map(\.rawValue).joined(separator: ", "))"
        case .slotDamaged(let path, let id, let kind): "slot \(id) (\(kind)) of vault \(path) is damaged"
        case .slotParametersRefused(let kind): "a \(kind) slot asks for more memory or time than is allowed"
        case .slotUnknown(let path, let id): "vault \(path) has no slot \(id)"
        case .lastSlot(let path, let id): "slot \(id) is the last that opens vault \(path)"
        case .tooManySlots(let path, let limit): "vault \(path) has \(limit) slots already, the most there can be"
        case .credentialMissing(let name, let directory):
            directory.map { "there is no credential \(name) in \($0)" }
                ?? "there is no credential \(name): CREDENTIALS_DIRECTORY is not set"
        case .keyFileMissing(let path): "there is no key file \(path)"
        case .keyFileOfOther(let path, let owner): "key file \(path) belongs to another user (uid \(owner))"
        case .keyUnreadable(let path, let reason): "cannot read key \(path): \(reason)"
        case .keyUnwritable(let path, let reason): "cannot make key file \(path): \(reason)"
        case .keyLength(let path, let bytes, let least, let most):
            "key \(path) has \(bytes) bytes; \(least) to \(most) are allowed"
        case .credentialLength(let bytes, let least, let most):
            "the credential has \(bytes) bytes; \(least) to \(most) are allowed"
        case .passphraseEmpty: "the passphrase is empty"
        case .passphraseShort(let bytes, let least): "the passphrase has \(bytes) bytes; a new slot needs at least \(least)"
        case .recordDamaged(let name): "record \(name) is damaged"
        case .recordDisplaced(let name): "in the place of record \(name) lies something sealed for another place"
        case .recordRolledBack(let name): "an earlier state of record \(name) was put back"
        case .recordMissing(let name): "record \(name) was taken out of the vault"
        case .nameNotAllowed(let name, let kind):
            "record name \(name)\(kind.map { " (kind \($0.rawValue))" } ?? "") is empty, too long or not printable ASCII"
        case .contentTooLong(let name, let bytes, let limit): "record \(name) has \(bytes) bytes; \(limit) are allowed"
        case .tooManyRecords(let path, let limit): "vault \(path) can hold no more than \(limit) records"
        case .storage(let error): error.message
        case .cryptography(let error): error.message
        }
    }

    public var remedy: String? {
        switch self {
        case .missing: "check the state directory, or enroll this board"
        case .fileDamaged, .manifestDamaged:
            "restore a copy of the vault; without one, move it away and enroll this board again"
        case .newerVersion: "install the newer program again, or restore the vault from before the update"
        case .permissionsTooOpen(let path, _): "run: chmod 600 \(path)"
        case .manifestRolledBack: "find out who replaced the file; restart the agent to go on with the older copy"
        case .noSlotOpens: "check that the credential, passphrase or key file is the one this vault was sealed with"
        case .slotDamaged: "open the vault by another slot and renew this one, or restore a copy of the vault"
        case .slotParametersRefused: "restore a copy of the vault; somebody has changed this one"
        case .lastSlot: "add another slot first"
        case .tooManySlots: "remove a slot first"
        case .credentialMissing: "add LoadCredentialEncrypted= for it to the unit"
        case .keyFileMissing: "put the key file back; without it, move the vault away and enroll this board again"
        case .keyFileOfOther: "give the file to the agent's user or to root"
        case .keyUnreadable: "check that the agent's user may read the file"
        case .keyUnwritable: "check that the directory exists and that the agent's user may write to it"
        case .keyLength, .credentialLength: "make a new one with: head -c 32 /dev/urandom"
        case .passphraseShort: "use a longer one, such as six words that were drawn at random"
        case .recordDamaged, .recordDisplaced, .recordRolledBack, .recordMissing:
            "restore a copy of the vault, or reset the registration it belongs to"
        case .storage(let error): error.remedy
        case .cryptography(let error): error.remedy
        case .closed, .slotUnknown, .passphraseEmpty, .nameNotAllowed, .contentTooLong, .tooManyRecords: nil
        }
    }
}
