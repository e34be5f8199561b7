import Glibc

/// The machine the agent runs on, as `/proc`, `/sys` and `/dev` show it.
public struct Machine: Sendable {
    /// The folder under which those lie; another one in tests.
    public let root: String

    /// - Parameter root: without a slash at its end; empty for the machine itself.
    public init(root: String = "") {
        self.root = root
    }

    /// The board's model by its device tree; `nil` where there is none, as on PCs.
    public var model: String? {
        guard case .success(let bytes) = BoundedFile.read(path("/proc/device-tree/model"), limit: 256) else { return nil }
        // A device tree's strings end with a zero.
        return String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self).flatMap { $0.isEmpty ? nil : $0 }
    }

    func path(_ absolute: String) -> String { root + absolute }

    /// Names in a folder, numbers in them in numeric order; none when there is no such folder.
    func names(in folder: String, startingWith prefix: String = "") -> [String] {
        guard let directory = opendir(path(folder)) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix(prefix), !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
    }
}

/// Whole small files, read without trusting what they are.
enum BoundedFile {
    /// - Returns: the content, or the `errno`; `EFBIG` for more than `limit` bytes, `EINVAL` for what is no regular
    ///   file.
    static func read(_ path: String, limit: Int) -> Result<[UInt8], Errno> {
        // Not blocking: a pipe in the place of a file would else wait for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return .failure(Errno(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return .failure(Errno(errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { return .failure(Errno(EINVAL)) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: min(limit, 4096) + 1)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            if count < 0 {
                guard errno == EINTR else { return .failure(Errno(errno)) }
                continue
            }
            if count == 0 { return .success(bytes) }
            bytes += piece[..<count]
            guard bytes.count <= limit else { return .failure(Errno(EFBIG)) }
        }
    }
}

/// An error number of the C library.
struct Errno: Error, Equatable, CustomStringConvertible {
    let code: Int32
    init(_ code: Int32) { self.code = code }
    var description: String { String(cString: strerror(code)) }
}
