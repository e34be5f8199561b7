import CSQLite
import Glibc
import Groundwork

/// An error of a database file. Every case names the file.
public enum StorageError: Explained, Equatable {
    /// The file cannot be opened or created: no such directory, no permission.
    case cannotOpen(path: String, reason: String)
    /// There is no file, and none was to be created.
    case missing(path: String)
    /// Users other than the owner may read or write the file; `mode` is its permission bits.
    case permissionsTooOpen(path: String, mode: UInt32)
    /// A newer program wrote the file. It is left unchanged.
    case newerVersion(path: String, found: Int, supported: Int)
    /// Pages of the file contradict each other, or the file is truncated.
    case damaged(path: String, detail: String)
    /// The file is not a SQLite database.
    case notADatabase(path: String)
    /// The disk or the quota is full. Nothing of the transaction was written.
    case full(path: String)
    /// The file or its file system cannot be written to.
    case readOnly(path: String)
    /// The disk failed to read, write or sync.
    case inputOutput(path: String, detail: String)
    /// Another process held the file for longer than the busy timeout.
    case busy(path: String)
    /// A damaged file could not be moved aside.
    case cannotSetAside(path: String, reason: String)
    /// The database has been closed by its owner.
    case closed(path: String)
    /// Anything else SQLite refuses, such as a broken constraint; `reason` is its own text.
    case refused(path: String, reason: String)

    /// Whether the file itself is unusable, so that setting it aside helps.
    public var isDamage: Bool {
        switch self {
        case .damaged, .notADatabase: true
        case .cannotOpen, .missing, .permissionsTooOpen, .newerVersion, .full, .readOnly, .inputOutput, .busy,
            .cannotSetAside, .closed, .refused:
            false
        }
    }

    /// Whether the disk is what fails: the file is as it was, and usable once the disk is.
    public var isOfDisk: Bool {
        switch self {
        case .full, .readOnly, .inputOutput: true
        case .cannotOpen, .missing, .permissionsTooOpen, .newerVersion, .damaged, .notADatabase, .busy, .cannotSetAside,
            .closed, .refused:
            false
        }
    }

    public var explanation: Explanation {
        switch self {
        case .cannotOpen(let path, let reason):
            Explanation(
                "storage.cannot-open", .configuration, "cannot open database \(path): \(reason)",
                remedy: "check that the directory exists and that the agent's user may write to it")
        case .missing(let path):
            Explanation(
                "storage.missing", .configuration, "there is no database \(path)",
                remedy: "check the path of the state directory")
        case .permissionsTooOpen(let path, let mode):
            Explanation(
                "storage.permissions-too-open", .configuration,
                "database \(path) is accessible to users other than its owner (mode \(String(mode, radix: 8)))",
                remedy: "run: chmod 600 \(path)")
        case .newerVersion(let path, let found, let supported):
            Explanation(
                "storage.newer-version", .unavailable,
                "database \(path) has version \(found), newer than the \(supported) this program knows",
                remedy: "install the newer program again, or restore the file from before the update")
        case .damaged(let path, let detail):
            Explanation(
                "storage.damaged", .damaged, "database \(path) is damaged: \(detail)",
                remedy: "keep the file for examination and move it away, or restore a copy")
        case .notADatabase(let path):
            Explanation(
                "storage.not-a-database", .damaged, "\(path) is not a database",
                remedy: "keep the file for examination and move it away, or restore a copy")
        case .full(let path):
            Explanation(
                "storage.full", .full, "cannot write to database \(path): the disk is full",
                remedy: "free space on the file system")
        case .readOnly(let path):
            Explanation(
                "storage.read-only", .unavailable, "cannot write to database \(path): it is read-only",
                remedy: "check the mount options and the owner of the file")
        case .inputOutput(let path, let detail):
            Explanation(
                "storage.input-output", .unavailable, "the disk failed on database \(path): \(detail)",
                remedy: "look for disk errors in the kernel's log (dmesg); the card or disk may be failing")
        case .busy(let path):
            Explanation(
                "storage.busy", .temporary, "database \(path) is held by another process",
                remedy: "find the other process with: fuser \(path)")
        case .cannotSetAside(let path, let reason):
            Explanation(
                "storage.cannot-set-aside", .configuration,
                "cannot set damaged database \(path) aside: \(reason)",
                remedy: "check that the agent's user may write to the directory")
        case .closed(let path): Explanation("storage.closed", .temporary, "database \(path) is closed")
        case .refused(let path, let reason):
            Explanation("storage.refused", .internal, "database \(path) refused a statement: \(reason)")
        }
    }

    public static let examples: [StorageError] = [
        .cannotOpen(path: "PATH", reason: "REASON"), .missing(path: "PATH"),
        .permissionsTooOpen(path: "PATH", mode: 0o644),
        .newerVersion(path: "PATH", found: 9, supported: 1), .damaged(path: "PATH", detail: "REASON"),
        .notADatabase(path: "PATH"),
        .full(path: "PATH"), .readOnly(path: "PATH"), .inputOutput(path: "PATH", detail: "REASON"), .busy(path: "PATH"),
        .cannotSetAside(path: "PATH", reason: "REASON"), .closed(path: "PATH"),
        .refused(path: "PATH", reason: "REASON"),
    ]

    /// - Parameters:
    ///   - code: an extended result code (https://www.sqlite.org/rescode.html).
    ///   - systemError: the `errno` behind it, if there is one.
    init(code: Int32, systemError: Int32 = 0, path: String, reason: String) {
        switch code & 0xff {
        // SQLite reports only this much when it cannot create or grow one of its files.
        case SQLITE_CANTOPEN, SQLITE_IOERR:
            self =
                Self(systemError: systemError, path: path)
                ?? (code & 0xff == SQLITE_CANTOPEN
                    ? .cannotOpen(path: path, reason: reason)
                    : .inputOutput(path: path, detail: "\(reason) (SQLite code \(code))"))
        case SQLITE_PERM, SQLITE_AUTH: self = .cannotOpen(path: path, reason: reason)
        case SQLITE_CORRUPT: self = .damaged(path: path, detail: reason)
        case SQLITE_NOTADB: self = .notADatabase(path: path)
        case SQLITE_FULL: self = .full(path: path)
        case SQLITE_READONLY: self = .readOnly(path: path)
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy(path: path)
        default: self = .refused(path: path, reason: "\(reason) (SQLite code \(code))")
        }
    }
    /// A case with a remedy of its own, more precise than "cannot open" or "input/output"; `nil` for any other `errno`.
    init?(systemError: Int32, path: String) {
        switch systemError {
        case ENOSPC, EDQUOT: self = .full(path: path)
        case EROFS: self = .readOnly(path: path)
        default: return nil
        }
    }
}
