import Glibc
import Groundwork

/// Reads what a person or a program hands over, bounded.
enum Input {
    /// The most bytes that fit in base64 into a request to the daemon, of 1 MiB, with room for its other members.
    static let payloadLimit = 700 << 10

    static func standardInput(limit: Int) throws(InputError) -> [UInt8] {
        try read(STDIN_FILENO, named: "standard input", limit: limit)
    }

    static func file(_ path: String, limit: Int) throws(InputError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(name: path, reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        return try read(descriptor, named: path, limit: limit)
    }

    private static func read(_ descriptor: Int32, named name: String, limit: Int) throws(InputError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw .unreadable(name: name, reason: String(cString: strerror(errno)))
            }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { throw .tooLong(name: name, limit: limit) }
        }
    }
}

enum InputError: Explained, Equatable {
    case unreadable(name: String, reason: String)
    case tooLong(name: String, limit: Int)
    /// What was given to enroll with; it may hold a ticket and is not shown.
    case neitherURLNorDocument

    var code: String {
        switch self {
        case .unreadable: "input.unreadable"
        case .tooLong: "input.too-long"
        case .neitherURLNorDocument: "input.neither-url-nor-document"
        }
    }

    var message: String {
        switch self {
        case .unreadable(let name, let reason): "cannot read \(name): \(reason)"
        case .tooLong(let name, let limit): "\(name) has more than \(limit) bytes"
        case .neitherURLNorDocument: "standard input holds neither an enrollment URL nor a configuration document"
        }
    }
}
