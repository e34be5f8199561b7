import Glibc
import Groundwork
import LocalAPI

/// A file that an answer is written to: until it is complete under another name, `FILE.part`, so that it can be
/// continued.
///
/// Beside it `FILE.part.tag` has what the server called this version of the content (RFC 9110 section 8.8): only the
/// rest of the same version is put after a beginning.
///
/// What is there and is not a regular file, such as a FIFO, is written to as it comes.
struct Download {
    private let path: String
    /// What a regular file has that is to be replaced: it stays.
    private let replaced: stat?
    private let isDirect: Bool
    private var partPath: String { path + ".part" }
    private var tagPath: String { path + ".part.tag" }
    private var descriptor: Int32 = -1
    /// What is there of an earlier attempt, in bytes.
    private(set) var start = 0
    private var tag: String?

    /// - Parameter continues: whether to ask only for the missing rest of an existing file, if its version is known.
    init(to path: String, continues: Bool) {
        self.path = Output.target(of: path)
        var status = stat()
        let exists = stat(self.path, &status) == 0
        let isRegular = exists && status.st_mode & S_IFMT == S_IFREG
        replaced = isRegular ? status : nil
        isDirect = exists && !isRegular
        guard continues, !isDirect, stat(partPath, &status) == 0,
            let bytes = try? BoundedFile.read(tagPath, limit: 1024, .anything)
        else { return }
        tag = Input.firstLine(of: bytes)
        start = Int(status.st_size)
    }

    /// Ask for the rest alone, if it is still of the same version (RFC 9110 sections 13.1.5 and 14.2).
    var headers: [(name: String, value: String)] {
        guard let tag, !tag.isEmpty, start > 0 else { return [] }
        return [("Range", "bytes=\(start)-"), ("If-Range", tag)]
    }

    /// - Returns: whether the answer's body is to be written: it is not where everything was there already.
    /// - Throws: ``InputError/unwritable(name:reason:)``
    mutating func begin(_ status: Int64, _ header: (String) -> String?) throws(InputError) -> Bool {
        let range = header("Content-Range")?.split(separator: " ").last.map(String.init) ?? ""
        if status == 416, start > 0 { return range != "*/\(start)" }
        guard (200..<300).contains(status) else { return true }
        if status != 206 || !range.hasPrefix("\(start)-") {
            guard status != 206 else {
                throw .unwritable(name: path, reason: "the server sent another part than was asked for")
            }
            start = 0
        }
        if isDirect {
            descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw unwritable }
            return true
        }
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (start == 0 ? O_TRUNC : O_APPEND)
        if start == 0 {
            // First, so that no beginning of one version is taken for one of another.
            unlink(tagPath)
            try open(flags)
            let strong = header("ETag").flatMap { $0.hasPrefix("W/") ? nil : $0 }
            if let tag = strong ?? header("Last-Modified") { try Output.file(tagPath, Array((tag + "\n").utf8)) }
        } else {
            try open(flags)
        }
        return true
    }

    private mutating func open(_ flags: Int32) throws(InputError) {
        let mode = replaced.map { $0.st_mode & 0o777 } ?? 0o644
        descriptor = Glibc.open(partPath, flags, mode)
        guard descriptor >= 0 else { throw unwritable }
        guard let replaced else { return }
        // Only root can; anybody else's file becomes that of who replaces it.
        _ = fchown(descriptor, replaced.st_uid, replaced.st_gid)
        guard fchmod(descriptor, mode) == 0 else { throw unwritable }
    }

    /// Whether the answer goes to the file: a refusal does not.
    var isOpen: Bool { descriptor >= 0 }

    func write(_ piece: [UInt8]) throws(InputError) {
        var rest = piece[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw unwritable }
            rest = rest.dropFirst(count)
        }
    }

    /// Gives the complete file its name.
    ///
    /// - Throws: ``InputError/unwritable(name:reason:)``
    mutating func finish() throws(InputError) {
        if isDirect {
            let closed = close(descriptor)
            descriptor = -1
            guard closed == 0 else { throw unwritable }
            return
        }
        if isOpen {
            guard fsync(descriptor) == 0 else { throw unwritable }
            close(descriptor)
            descriptor = -1
        }
        guard rename(partPath, path) == 0 else { throw unwritable }
        unlink(tagPath)
    }

    private var unwritable: InputError { .unwritable(name: path, reason: String(cString: strerror(errno))) }
}
