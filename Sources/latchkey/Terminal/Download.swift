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
    private let place: OutputPlace
    private var path: String { place.path }
    private var isDirect: Bool { place.isNode }
    private var partPath: String { path + ".part" }
    private var tagPath: String { path + ".part.tag" }
    private var descriptor: Int32 = -1
    /// What is there of an earlier attempt, in bytes.
    private(set) var start = 0
    private var tag: String?

    /// - Parameter continues: whether to ask only for the missing rest of an existing file, if its version is known.
    /// - Throws: ``InputError/unwritable(name:reason:)``
    init(to path: String, continues: Bool) throws(InputError) {
        place = try OutputPlace(of: path)
        guard continues, !isDirect, let size = Self.size(partPath), Self.size(tagPath) != nil,
            let bytes = try? BoundedFile.read(tagPath, limit: 1024, .anything)
        else { return }
        tag = try? Input.firstLine(of: bytes, from: tagPath)
        start = size
    }

    /// Of a file of the caller's own.
    private static func size(_ path: String) -> Int? {
        let descriptor = OutputPlace.openOwn(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return Int(lseek(descriptor, 0, SEEK_END))
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
            descriptor = place.openNode()
        } else if start > 0 {
            descriptor = OutputPlace.openOwn(partPath, O_WRONLY | O_APPEND)
        } else {
            // First, so that no beginning of one version is taken for one of another.
            unlink(tagPath)
            descriptor = try place.makeDraft(partPath)
        }
        guard descriptor >= 0 else { throw place.unwritable }
        if !isDirect, start == 0 {
            let strong = header("ETag").flatMap { $0.hasPrefix("W/") ? nil : $0 }
            if let tag = strong ?? header("Last-Modified") { try Output.file(tagPath, Array((tag + "\n").utf8)) }
        }
        return true
    }

    /// Whether the answer goes to the file: a refusal does not.
    var isOpen: Bool { descriptor >= 0 }

    func write(_ piece: [UInt8]) throws(InputError) {
        var rest = piece[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw place.unwritable }
            rest = rest.dropFirst(count)
        }
    }

    /// Gives the complete file its name.
    ///
    /// - Throws: ``InputError/unwritable(name:reason:)``
    mutating func finish() throws(InputError) {
        guard isOpen else {
            // Everything was there already.
            descriptor = OutputPlace.openOwn(partPath, O_RDONLY)
            guard isOpen else { throw place.unwritable }
            return try finish()
        }
        defer { descriptor = -1 }
        guard !isDirect else {
            guard close(descriptor) == 0 else { throw place.unwritable }
            return
        }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw place.unwritable }
        try place.take(partPath, descriptor)
        unlink(tagPath)
    }
}
