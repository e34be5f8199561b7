import Cryptography
import Groundwork
import Storage

/// Errors of the vault. None of them has changed or removed anything in it.
public enum VaultError: Explained, Equatable {
    // The file
    /// There is no vault, and the caller did not request a new one.
    case missing(path: String)
    /// The file is truncated, overwritten or not a vault.
    case fileDamaged(path: String, detail: String)
    /// A newer program wrote the vault.
    case newerVersion(path: String, found: Int, supported: Int)
    /// Users other than the owner may read or write the vault or a key file; `mode` has its permission bits.
    case permissionsTooOpen(path: String, mode: UInt32)
    /// The authentication of the vault's list of records failed.
    case manifestDamaged(path: String)
    /// The vault's list of records is older than one that this process has seen.
    case manifestRolledBack(path: String)
    case closed(path: String)
    /// The root key is not in memory.
    case locked(path: String)
    /// The passcode has not been given that opens records of this level.
    case levelLocked(path: String, level: ProtectionLevel)
    /// The vault was used on the board with the serial number `known`, and this one has another.
    case otherBoard(path: String, known: String, found: String)

    // Keys and slots
    /// None of the given keys fits a slot; `tried` are their kinds.
    case noSlotOpens(path: String, tried: [Slot.Kind])
    /// Bytes of a slot have changed.
    case slotDamaged(path: String, id: Int64, kind: Slot.Kind)
    /// A slot requires more memory or time than its kind allows.
    case slotParametersRefused(kind: Slot.Kind)
    case slotUnknown(path: String, id: Int64)
    /// Without this slot the vault could not be opened.
    case lastSlot(path: String, id: Int64)
    /// Without this slot, anyone with a copy of the disk could open the vault with what else is on it.
    case onlyDevelopmentSlots(path: String, id: Int64)
    case tooManySlots(path: String, limit: Int)
    /// These slots would not open the vault any more, and were not named.
    case slotsLeft(path: String, ids: [Int64])
    /// The service has no such systemd credential; `directory` is nil if it has no credentials at all.
    case credentialMissing(name: String, directory: String?)
    case keyFileMissing(path: String)
    /// A key file whose owner is neither this user nor root.
    case keyFileOfOther(path: String, owner: UInt32)
    case keyUnreadable(path: String, reason: String)
    case keyUnwritable(path: String, reason: String)
    /// A key with too few or too many bytes.
    case keyLength(path: String, bytes: Int, least: Int, most: Int)
    /// The content of a credential, given to make a slot, is too short or too long.
    case credentialLength(bytes: Int, least: Int, most: Int)
    case passphraseEmpty
    /// A passphrase for a new slot that is short enough to be guessed with a copy of the file.
    case passphraseShort(bytes: Int, least: Int)

    // Records
    /// The authentication of a record's content failed.
    case recordDamaged(name: RecordName)
    /// The content at a record's place was sealed for another name, kind or version.
    case recordDisplaced(name: RecordName)
    /// An earlier state of a record, or a removed record, was restored.
    case recordRolledBack(name: RecordName)
    /// A record was removed from the file.
    case recordMissing(name: RecordName)
    /// A private key was read or written as a normal record.
    case recordIsKey(name: RecordName)
    /// The content is not a private key.
    case keyInvalid(name: RecordName)
    /// A key is in hardware that the settings do not describe.
    case keeperMissing(KeyReference.Keeper)
    /// A key of that name already exists.
    case keyExists(name: RecordName)
    case nameNotAllowed(name: RecordName, kind: RecordKind?)
    /// A value was written again or removed while it was read in pieces, or written.
    case valueChanged(name: RecordName)
    case contentTooLong(name: RecordName, bytes: Int, limit: Int)
    case tooManyRecords(path: String, limit: Int)

    // Below
    case export(ExportError)
    case storage(StorageError)
    case cryptography(CryptographyError)
    case chip(ChipError)
    case token(TokenError)
    case passcode(PasscodeError)
    case rollback(RollbackError)
    case identity(IdentityError)

    /// Whether a single record can no longer be read, whatever happens to the disk or the memory.
    var isOfRecord: Bool {
        switch self {
        case .recordDamaged, .recordDisplaced, .recordRolledBack, .recordMissing: true
        default: false
        }
    }

    /// Whether no key can open the vault any more, so that setting it aside helps.
    public var isDamage: Bool {
        switch self {
        case .fileDamaged, .manifestDamaged: true
        // Setting a vault aside loses the identity, so it is not the remedy for any other error, nor for a new one.
        default: false
        }
    }

    init(_ error: StorageError) {
        switch error {
        case .missing(let path): self = .missing(path: path)
        case .damaged(let path, let detail): self = .fileDamaged(path: path, detail: detail)
        case .notADatabase(let path): self = .fileDamaged(path: path, detail: "it is not a vault")
        case .newerVersion(let path, let found, let supported):
            self = .newerVersion(path: path, found: found, supported: supported)
        case .permissionsTooOpen(let path, let mode): self = .permissionsTooOpen(path: path, mode: mode)
        case .closed(let path): self = .closed(path: path)
        case .cannotOpen, .full, .readOnly, .inputOutput, .busy, .cannotSetAside, .refused: self = .storage(error)
        }
    }
}

/// Runs `body` and converts its errors to this module's.
func explained<Result>(_ body: () throws -> Result) throws(VaultError) -> Result {
    do {
        return try body()
    } catch let error as VaultError {
        throw error
    } catch let error as ExportError {
        throw VaultError.export(error)
    } catch let error as StorageError {
        throw VaultError(error)
    } catch let error as CryptographyError {
        throw VaultError.cryptography(error)
    } catch let error as ChipError {
        throw VaultError.chip(error)
    } catch let error as RollbackError {
        throw VaultError.rollback(error)
    } catch let error as PasscodeError {
        throw VaultError.passcode(error)
    } catch let error as PasscodeFault {
        throw VaultError.passcode(.refused(error))
    } catch {
        // The modules below throw no other errors; if one ever does, its error is shown instead of hidden.
        throw VaultError.storage(.refused(path: "", reason: String(describing: error)))
    }
}
