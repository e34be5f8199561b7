import Glibc
import Groundwork
import LocalAPI

/// The body of a call in parts; only one piece at a time is in memory.
struct BodySource: Sendable {
    enum Part: Sendable {
        case bytes([UInt8])
        case file(path: String, length: Int)
    }

    /// Bytes that are sent at once.
    private static let pieceLength = 256 << 10

    private(set) var parts: [Part] = []
    /// Set for a multipart body.
    private(set) var boundary: String?

    /// In bytes.
    var length: Int {
        parts.reduce(0) { sum, part in
            switch part {
            case .bytes(let bytes): sum + bytes.count
            case .file(_, let length): sum + length
            }
        }
    }

    /// The content of a file.
    ///
    /// - Throws: ``InputError/unreadable(name:reason:)`` unless it is a regular file that this user may read.
    init(file path: String) throws(InputError) { try add(file: path) }

    /// A body of `multipart/form-data` (RFC 7578).
    ///
    /// - Parameter fields: `NAME=VALUE`, or `NAME=@FILE` with `;type=TYPE` and `;filename=NAME` after it, as curl has
    ///   them.
    /// - Throws: ``InputError/unreadable(name:reason:)``
    init(form fields: [String]) throws(InputError) {
        let boundary = "latchkey-" + Hex.encode((0..<12).map { _ in UInt8.random(in: 0...255) })
        self.boundary = boundary
        for field in fields {
            let name = field.prefix { $0 != "=" }
            let value = field.dropFirst(name.count + 1)
            var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.quoted(name))\""
            guard value.hasPrefix("@") else {
                add(head + "\r\n\r\n\(value)\r\n")
                continue
            }
            let words = value.dropFirst().split(separator: ";", omittingEmptySubsequences: false)
            let path = String(words[0])
            var (type, fileName) = (
                "application/octet-stream", path.split(separator: "/").last.map(String.init) ?? path
            )
            for word in words.dropFirst() {
                if word.hasPrefix("type=") { type = word.dropFirst(5).filter { !$0.isNewline } }
                if word.hasPrefix("filename=") { fileName = String(word.dropFirst(9)) }
            }
            head += "; filename=\"\(Self.quoted(fileName[...]))\"\r\nContent-Type: \(type)\r\n\r\n"
            add(head)
            try add(file: path)
            add("\r\n")
        }
        add("--\(boundary)--\r\n")
    }

    /// As browsers escape what would end a quoted name.
    private static func quoted(_ name: Substring) -> String {
        name.reduce(into: "") { text, character in
            switch character {
            case "\"": text += "%22"
            case "\r": text += "%0D"
            case "\n", "\r\n": text += "%0A"
            default: text.append(character)
            }
        }
    }

    private mutating func add(_ text: String) { parts.append(.bytes(Array(text.utf8))) }

    private mutating func add(file path: String) throws(InputError) {
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
            throw .unreadable(name: path, reason: String(cString: strerror(errno)))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .unreadable(name: path, reason: "it is not a file") }
        parts.append(.file(path: path, length: Int(status.st_size)))
    }

    /// Passes everything on, piece by piece, until `take` returns `false`.
    ///
    /// - Throws: ``InputError/unreadable(name:reason:)``, what `take` throws.
    func forEachPiece(_ take: ([UInt8]) async throws -> Bool) async throws {
        for part in parts {
            switch part {
            case .bytes(let bytes): guard try await take(bytes) else { return }
            case .file(let path, let length):
                let descriptor = open(path, O_RDONLY | O_CLOEXEC)
                guard descriptor >= 0 else {
                    throw InputError.unreadable(name: path, reason: String(cString: strerror(errno)))
                }
                defer { close(descriptor) }
                var rest = length
                while rest > 0 {
                    let wanted = min(rest, Self.pieceLength)
                    let piece = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                        count = max(0, read(descriptor, buffer.baseAddress, wanted))
                    }
                    guard !piece.isEmpty else {
                        throw InputError.unreadable(name: path, reason: "it became shorter while it was sent")
                    }
                    rest -= piece.count
                    guard try await take(piece) else { return }
                }
            }
        }
    }
}
