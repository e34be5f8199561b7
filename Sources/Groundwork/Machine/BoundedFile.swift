import Glibc

/// Reads whole small files without trusting their type or length.
public enum BoundedFile {
    /// The accepted types of a file.
    public enum Kind: Sendable {
        /// A regular file, or a link to one. Anything else is refused at once: a pipe would wait for a writer.
        case regular
        /// A regular file; the last component of the path must not be a link.
        case regularWithoutLink
        /// Also a device or a pipe, such as the shell's `<(command)`, which is read to its end.
        case anything
    }

    /// - Parameters:
    ///   - limit: the maximum number of bytes.
    ///   - isSecret: refuses a file that users other than its owner may read. If reading fails, its content is wiped
    ///     from memory.
    public static func read(
        _ path: String, limit: Int, _ kind: Kind = .regular, isSecret: Bool = false
    ) throws(FileFault) -> [UInt8] {
        let file = try OpenedFile(path, kind)
        let status = try file.status()
        guard kind == .anything || status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        guard !isSecret || status.st_mode & 0o077 == 0 else { throw .openToOthers }
        return try read(file.descriptor, limit: limit)
    }

    /// Reads a descriptor until its end.
    public static func read(_ descriptor: CInt, limit: Int) throws(FileFault) -> [UInt8] {
        // A small file, such as a secret, fits into the first buffer and is not copied; one extra byte detects its end.
        var bytes = [UInt8](repeating: 0, count: min(limit, 65_536) + 1)
        var filled = 0
        while true {
            let count = bytes.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress! + filled, $0.count - filled)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                let error = Errno(errno)
                clear(&bytes)
                throw .system(error)
            }
            filled += count
            guard filled <= limit else {
                clear(&bytes)
                throw .tooLong(limit: limit)
            }
            if count == 0 { break }
            if filled == bytes.count {
                bytes += [UInt8](repeating: 0, count: min(bytes.count, limit + 1 - bytes.count))
            }
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }

    private static func clear(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { explicit_bzero($0.baseAddress!, $0.count) }
    }
}

/// Why a file could not be read.
public enum FileFault: Error, Equatable, CustomStringConvertible {
    case system(Errno)
    case notRegular
    case tooLong(limit: Int)
    case openToOthers

    /// Continues a sentence that begins with the path.
    public var description: String {
        switch self {
        case .system(let error): error.description
        case .notRegular: "it is not a regular file"
        case .tooLong(let limit): "it has more than \(limit) bytes"
        case .openToOthers: "other users may read it (its mode is not 0600)"
        }
    }
}

/// A file that is open for reading until its owner drops it. ``status()`` and reading use the same descriptor, so the
/// checked file is the one that is read.
public struct OpenedFile: ~Copyable {
    public let descriptor: CInt

    /// Opens without waiting for the writer of a pipe, unless `kind` is ``BoundedFile/Kind/anything``. The caller must
    /// check the file's type with ``status()``.
    public init(_ path: String, _ kind: BoundedFile.Kind = .regular) throws(FileFault) {
        let flags: CInt =
            switch kind {
            case .regular: O_NONBLOCK
            case .regularWithoutLink: O_NONBLOCK | O_NOFOLLOW
            case .anything: 0
            }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | flags)
        guard descriptor >= 0 else {
            // The error for a link that is not allowed (open(2)).
            throw kind == .regularWithoutLink && errno == ELOOP ? .notRegular : .system(Errno(errno))
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The result of fstat(2).
    public func status() throws(FileFault) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(Errno(errno)) }
        return status
    }
}

/// An error number of the C library.
public struct Errno: Error, Equatable, CustomStringConvertible {
    public let code: CInt
    public init(_ code: CInt) { self.code = code }
    public var description: String { String(cString: strerror(code)) }
}
