import Cryptography
import Groundwork
import Storage

/// What can go wrong with the vault. None of these has changed or removed anything in it.
public enum VaultError: Explained, Equatable {
    // The file
    /// There is no vault, and none was to be made.
    case missing(path: String)
    /// The file is cut, overwritten or no vault.
    case fileDamaged(path: String, detail: String)
    /// A newer program wrote the vault.
    case newerVersion(path: String, found: Int, supported: Int)
    /// Others than the owner may read or write the vault or a key file; `mode` are its permission bits.
    case permissionsTooOpen(path: String, mode: UInt32)
    /// The list of what is in the vault does not authenticate.
    case manifestDamaged(path: String)
    /// The list of what is in the vault is older than what this process has seen.
    case manifestRolledBack(path: String)
    case closed(path: String)

    // Keys and slots
    /// None of the keys offered fits a slot; `tried` are their kinds.
    case noSlotOpens(path: String, tried: [Slot.Kind])
    /// Bytes of a slot have changed.
    case slotDamaged(path: String, id: Int64, kind: Slot.Kind)
    /// A slot asks for more memory or time than any slot of its kind is made with.
    case slotParametersRefused(kind: Slot.Kind)
    case slotUnknown(path: String, id: Int64)
    /// Without this slot nothing would open the vault.
    case lastSlot(path: String, id: Int64)
    case tooManySlots(path: String, limit: Int)
    /// The service has no such systemd credential; `directory` is nil when it was given none at all.
    case credentialMissing(name: String, directory: String?)
    case keyFileMissing(path: String)
    /// A key file that belongs to neither this user nor root.
    case keyFileOfOther(path: String, owner: UInt32)
    case keyUnreadable(path: String, reason: String)
    case keyUnwritable(path: String, reason: String)
    /// A key with too few bytes to be a secret, or too many to be a key.
    case keyLength(path: String, bytes: Int, least: Int, most: Int)
    /// The content of a credential, given to make a slot, is too short to be a secret or too long to be a key.
    case credentialLength(bytes: Int, least: Int, most: Int)
    case passphraseEmpty
    /// A passphrase for a new slot that could be guessed by whoever has a copy of the file.
    case passphraseShort(bytes: Int, least: Int)

    // Records
    /// The content of a record does not authenticate.
    case recordDamaged(name: RecordName)
    /// What lies in a record's place was sealed for another name, kind or version.
    case recordDisplaced(name: RecordName)
    /// An earlier state of a record, or a removed record, was put back.
    case recordRolledBack(name: RecordName)
    /// A record was taken out of the file.
    case recordMissing(name: RecordName)
    case nameNotAllowed(name: RecordName, kind: RecordKind?)
    case contentTooLong(name: RecordName, bytes: Int, limit: Int)
    case tooManyRecords(path: String, limit: Int)

    // Below
    case storage(StorageError)
    case cryptography(CryptographyError)

    init(_ error: StorageError) {
        switch error {
        case .missing(let path): self = .missing(path: path)
        case .damaged(let path, let detail): self = .fileDamaged(path: path, detail: detail)
        case .notADatabase(let path): self = .fileDamaged(path: path, detail: "it is not a vault")
        case .newerVersion(let path, let found, let supported):
            self = .newerVersion(path: path, found: found, supported: supported)
        case .permissionsTooOpen(let path, let mode): self = .permissionsTooOpen(path: path, mode: mode)
        case .closed(let path): self = .closed(path: path)
        default: self = .storage(error)
        }
    }
}

/// Runs `body` and says its errors in this room's terms.
func explained<Result>(_ body: () throws -> Result) throws(VaultError) -> Result {
    do {
        return try body()
    } catch let error as VaultError {
        throw error
    } catch let error as StorageError {
        throw VaultError(error)
    } catch let error as CryptographyError {
        throw VaultError.cryptography(error)
    } catch {
        // The rooms below throw nothing else; should one begin to, its error is shown and not swallowed.
        throw VaultError.storage(.refused(path: "", reason: String(describing: error)))
    }
}
