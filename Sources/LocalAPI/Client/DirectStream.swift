import Glibc
import HTTPClient

/// A stream of the daemon that the calling thread itself reads, and waits for: no other thread is woken for what comes.
///
/// It is requested by HTTP/1.0, so that its body is everything up to the end of the connection (RFC 9112 section 6.3).
final class DirectStream {
    private static let pieceBytes = 16 << 10

    let status: Int
    private let descriptor: CInt
    /// What came together with the head.
    private var first: [UInt8]

    /// - Parameter path: as in the request line.
    init(_ path: String, as form: StreamForm, socketPath: String) throws(HTTPError) {
        guard var address = ListeningSocket.address(socketPath) else {
            throw .cannotConnectToSocket(path: socketPath, reason: "the path is longer than 107 bytes")
        }
        guard path.utf8.allSatisfy({ 0x20 < $0 && $0 < 0x7F }) else {
            throw .malformedRequest(reason: "a path has no spaces")
        }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        do throws(HTTPError) {
            guard descriptor >= 0, ListeningSocket.call(connect, descriptor, &address) == 0 else {
                throw .cannotConnectToSocket(path: socketPath, reason: String(cString: strerror(errno)))
            }
            let request = "GET \(path) HTTP/1.0\r\nHost: localhost\r\nAccept: \(form.mediaType)\r\n\r\n"
            try Self.write(request, to: descriptor)
            var (received, head) = ([UInt8](), ResponseHead())
            while try !Self.takeLines(of: &head, from: &received) {
                guard let piece = try Self.read(descriptor) else { throw .malformedResponse(url: "the local API") }
                received += piece
            }
            (status, first) = (head.status, received)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Waits for the next piece of the body.
    ///
    /// - Returns: `nil` at its end.
    func next() throws(HTTPError) -> [UInt8]? {
        guard first.isEmpty else {
            defer { first = [] }
            return first
        }
        return try Self.read(descriptor)
    }

    /// Takes whole lines of a head off what was received.
    ///
    /// - Returns: whether the head is complete.
    static func takeLines(of head: inout ResponseHead, from bytes: inout [UInt8]) throws(HTTPError) -> Bool {
        var taken = 0
        defer { bytes.removeFirst(taken) }
        while let end = bytes[taken...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = bytes[taken...end]
            taken = end + 1
            switch head.receive(line) {
            case .incomplete: continue
            case .complete: return true
            case .tooLarge: throw .responseHeadTooLarge(url: "the local API")
            case .malformed: throw .malformedResponse(url: "the local API")
            }
        }
        guard bytes.count - taken <= ResponseHead.byteLimit else { throw .responseHeadTooLarge(url: "the local API") }
        return false
    }

    private static func write(_ request: String, to descriptor: CInt) throws(HTTPError) {
        var rest = Array(request.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            // A daemon that refuses the connection says so without reading: the answer is there.
            if count < 0, errno == EPIPE || errno == ECONNRESET { return }
            guard count >= 0 || errno == EINTR else { throw failure(errno) }
            rest = rest.dropFirst(max(0, count))
        }
    }

    /// - Returns: `nil` at the end.
    private static func read(_ descriptor: CInt) throws(HTTPError) -> [UInt8]? {
        var (count, code) = (0, CInt(0))
        let bytes = [UInt8](unsafeUninitializedCapacity: pieceBytes) { buffer, filled in
            repeat {
                count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
                code = errno
            } while count < 0 && code == EINTR
            filled = max(0, count)
        }
        guard count >= 0 else { throw failure(code) }
        return count > 0 ? bytes : nil
    }

    private static func failure(_ code: CInt) -> HTTPError {
        .connectionLost(url: "the local API", reason: String(cString: strerror(code)))
    }
}
