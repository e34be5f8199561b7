public import Groundwork

/// Why a vault was not exported, or an export not restored. Nothing in the vault has changed, and no file was left.
public enum ExportError: Explained, Equatable {
    /// There is a file, link or folder of that name.
    case exists(path: String)
    case unwritable(path: String, reason: String)
    case unreadable(path: String, reason: String)
    /// The first line is not that of an export.
    case notAnExport(path: String)
    /// A newer program wrote it.
    case newerVersion(path: String, found: Int, supported: Int)
    /// The passphrase would cost more memory or time than is allowed.
    case parametersRefused(path: String)
    case wrongPassphrase(path: String)
    /// It ends before its last piece.
    case cutShort(path: String)
    /// A byte has changed, or a piece is not the one that belongs there.
    case damaged(path: String)
    /// There is something after the last piece.
    case trailingBytes(path: String)
    /// Everything is authentic, but not what this program writes.
    case contentInvalid(path: String, reason: String)
    /// More content than one commit restores.
    case tooLarge(path: String, limit: Int)
    /// The vault that is to be restored has this record already, which is not one of the board's own.
    case vaultInUse(name: RecordName)

    public var explanation: Explanation {
        switch self {
        case .exists(let path):
            Explanation(
                "vault.export-exists", .conflict, "\(path) already exists",
                remedy: "choose another name for the export")
        case .unwritable(let path, let reason):
            Explanation(
                "vault.export-unwritable", .configuration, "cannot write export \(path): \(reason)",
                remedy: "check that the directory exists and that the agent's user may write to it")
        case .unreadable(let path, let reason):
            Explanation(
                "vault.export-unreadable", .configuration, "cannot read export \(path): \(reason)",
                remedy: "check the path, and that the agent's user may read the file")
        case .notAnExport(let path):
            Explanation(
                "vault.export-unknown", .invalidInput, "\(path) is not an export of a vault",
                remedy: "name a file that was made by: latchkey vault export")
        case .newerVersion(let path, let found, let supported):
            Explanation(
                "vault.export-newer-version", .unavailable,
                "export \(path) has version \(found), newer than the \(supported) this program knows",
                remedy: "install the newer program first")
        case .parametersRefused(let path):
            Explanation(
                "vault.export-parameters-refused", .damaged,
                "export \(path) asks for more memory or time than is allowed", remedy: Self.otherCopy)
        case .wrongPassphrase(let path):
            Explanation(
                "vault.export-wrong-passphrase", .invalidInput, "export \(path) has another passphrase",
                remedy: "enter the passphrase with which it was made")
        case .cutShort(let path):
            Explanation("vault.export-cut-short", .damaged, "export \(path) is incomplete", remedy: Self.otherCopy)
        case .damaged(let path):
            Explanation("vault.export-damaged", .damaged, "export \(path) is damaged", remedy: Self.otherCopy)
        case .trailingBytes(let path):
            Explanation(
                "vault.export-trailing-bytes", .damaged, "export \(path) goes on after its end", remedy: Self.otherCopy)
        case .contentInvalid(let path, let reason):
            Explanation(
                "vault.export-content-invalid", .damaged, "export \(path) cannot be restored: \(reason)",
                remedy: Self.otherCopy)
        case .tooLarge(let path, let limit):
            Explanation(
                "vault.export-too-large", .tooLarge,
                "export \(path) would have more than \(limit >> 20) MiB of content, which one commit cannot restore",
                remedy: "leave records out, or copy the vault's file while the agent is stopped")
        case .vaultInUse(let name):
            Explanation(
                "vault.export-vault-in-use", .conflict, "the vault is in use: it has record \(name)",
                remedy: "remove the accounts and the registration first, or restore into a new vault")
        }
    }

    private static let otherCopy = "use another copy of the export"

    public static let examples: [ExportError] = [
        .exists(path: "PATH"), .unwritable(path: "PATH", reason: "REASON"),
        .unreadable(path: "PATH", reason: "REASON"), .notAnExport(path: "PATH"),
        .newerVersion(path: "PATH", found: 9, supported: 1), .parametersRefused(path: "PATH"),
        .wrongPassphrase(path: "PATH"), .cutShort(path: "PATH"), .damaged(path: "PATH"),
        .trailingBytes(path: "PATH"), .contentInvalid(path: "PATH", reason: "REASON"),
        .tooLarge(path: "PATH", limit: 64 << 20), .vaultInUse(name: RecordName(scope: "GATEWAY", name: "RECORD")),
    ]
}
