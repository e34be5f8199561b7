extension ExportError {
    /// The same error of an export by another name, such as the one that a person gave it.
    public func naming(_ path: String) -> ExportError {
        switch self {
        case .exists: .exists(path: path)
        case .unwritable(_, let reason): .unwritable(path: path, reason: reason)
        case .unreadable(_, let reason): .unreadable(path: path, reason: reason)
        case .notAnExport: .notAnExport(path: path)
        case .newerVersion(_, let found, let supported):
            .newerVersion(path: path, found: found, supported: supported)
        case .parametersRefused: .parametersRefused(path: path)
        case .wrongPassphrase: .wrongPassphrase(path: path)
        case .cutShort: .cutShort(path: path)
        case .damaged: .damaged(path: path)
        case .trailingBytes: .trailingBytes(path: path)
        case .contentInvalid(_, let reason): .contentInvalid(path: path, reason: reason)
        case .tooLarge(_, let limit): .tooLarge(path: path, limit: limit)
        case .vaultInUse: self
        }
    }
}
