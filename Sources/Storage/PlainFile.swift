import CLinux
import FoundationEssentials
import Glibc
import Groundwork

/// A file of a store beside its database, of mode 0600. Closed with its last reference.
///
/// Not `Sendable`: like ``Database`` it belongs to one actor, because every call may wait for the disk.
public final class PlainFile {
    /// The path that errors name.
    private let store: String
    private let descriptor: CInt

    /// - Parameters:
    ///   - creating: makes an empty file, in place of another one of this name.
    ///   - store: the path of the store that the file belongs to, for errors.
    public init(_ path: String, creating: Bool = false, of store: String) throws(StorageError) {
        self.store = store
        let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | (creating ? O_CREAT | O_TRUNC : 0)
        descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else {
            throw StorageError(systemError: errno, path: store)
                ?? .cannotOpen(path: path, reason: DatabaseFile.reason(errno))
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .cannotOpen(path: path, reason: "not a regular file")
        }
        let mode = UInt32(status.st_mode) & 0o777
        guard mode & 0o077 == 0 else { throw .permissionsTooOpen(path: path, mode: mode) }
    }

    deinit { close(descriptor) }

    /// Length in bytes.
    public func size() throws(StorageError) -> Int {
        var status = stat()
        try check(fstat(descriptor, &status))
        return Int(status.st_size)
    }

    /// Reads from `offset` until the buffer or the file ends.
    ///
    /// - Returns: how many bytes were read.
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StorageError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = pread(descriptor, buffer.baseAddress! + filled, buffer.count - filled, off_t(offset + filled))
            if count < 0, errno == EINTR { continue }
            try check(CInt(clamping: count))
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    /// - Parameter limit: the largest number of bytes to write.
    public func write(_ bytes: [UInt8], limit: Int = .max, at offset: Int) throws(StorageError) {
        var written = 0
        let end = min(bytes.count, limit)
        while written < end {
            let count = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + written, end - written, off_t(offset + written))
            }
            if count < 0, errno == EINTR { continue }
            try check(CInt(clamping: count))
            written += count
        }
    }

    public func truncate(to size: Int) throws(StorageError) { try check(ftruncate(descriptor, off_t(size))) }

    /// Makes everything written so far durable, including the length.
    public func sync() throws(StorageError) { try check(fdatasync(descriptor)) }

    /// Keeps room on the disk up to a length, so that writing so far does not find it full.
    ///
    /// - Returns: false if the file system cannot do that.
    public func reserve(_ size: Int) throws(StorageError) -> Bool {
        guard latchkey_reserve(descriptor, off_t(size)) != 0 else { return true }
        if let error = StorageError(systemError: errno, path: store) { throw error }
        return false
    }

    private func check(_ result: CInt) throws(StorageError) {
        guard result < 0 else { return }
        throw StorageError(systemError: errno, path: store)
            ?? .inputOutput(path: store, detail: DatabaseFile.reason(errno))
    }
}

extension PlainFile {
    /// Gives a file its name, in place of another file of that name. Durable with ``syncNames(beside:)``: if that
    /// fails, the next start may find either.
    public static func rename(_ draft: String, to path: String, of store: String) throws(StorageError) {
        guard Glibc.rename(draft, path) == 0 else {
            throw StorageError(systemError: errno, path: store)
                ?? .inputOutput(path: store, detail: DatabaseFile.reason(errno))
        }
    }

    /// Makes the names of a store's files durable.
    public static func syncNames(beside store: String) throws(StorageError) {
        try DatabaseFile.syncDirectory(of: store)
    }

    /// What the names of a store's further files have after its own.
    public static func companions(of store: String) throws(StorageError) -> [String] {
        let folder = store.parentDirectory
        guard let directory = opendir(folder) else {
            throw .cannotOpen(path: folder, reason: DatabaseFile.reason(errno))
        }
        defer { closedir(directory) }
        let own = store.utf8.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) } ?? ""
        var found: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(own), name != own { found.append(String(name.dropFirst(own.count))) }
        }
        return found
    }

    /// Gives a damaged file a second name, `NAME.damaged-2026-11-21T02-03-04Z`, never that of another file.
    ///
    /// - Throws: ``StorageError/cannotSetAside(path:reason:)``
    public static func setAside(_ path: String) throws(StorageError) -> String {
        let wanted = "\(path).damaged-\(Database.stamp(.now))"
        var (target, count) = (wanted, 1)
        while link(path, target) != 0 {
            guard errno == EEXIST else { throw .cannotSetAside(path: path, reason: DatabaseFile.reason(errno)) }
            count += 1
            target = "\(wanted)-\(count)"
        }
        try DatabaseFile.syncDirectory(of: target)
        return target
    }

    /// Overwrites a file with zeros and removes it.
    public static func erase(_ path: String, of store: String) throws(StorageError) {
        let file = try PlainFile(path, of: store)
        let size = try file.size()
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        for offset in stride(from: 0, to: size, by: zeros.count) {
            try file.write(zeros, limit: size - offset, at: offset)
        }
        try file.sync()
        unlink(path)
    }
}
