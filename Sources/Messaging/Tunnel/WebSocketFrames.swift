/// Reads the frames of a WebSocket server (RFC 6455 section 5). Pure.
///
/// To MQTT the payload of binary messages is one stream of bytes (MQTT 3.1.1 section 6): it passes as it arrives, so a
/// frame takes no memory, however long it is.
struct WebSocketReader {
    enum Fault: Error, Equatable {
        case reservedBits, unknownKind, text, masked, length, control, order

        var reason: String {
            switch self {
            case .reservedBits: "it sent a WebSocket frame with reserved bits"
            case .unknownKind: "it sent a WebSocket frame of an unknown kind"
            case .text: "it sent text over WebSocket, which MQTT does not have"
            case .masked: "it sent a masked WebSocket frame, as only clients do"
            case .length: "it sent a WebSocket frame with a length that is not allowed"
            case .control: "it sent a WebSocket control frame that is too long or in parts"
            case .order: "it sent a WebSocket frame that does not continue the one before"
            }
        }
    }

    enum Control: Equatable {
        /// To be answered with the same bytes (RFC 6455 section 5.5.2).
        case ping([UInt8])
        /// - Parameter code: why (RFC 6455 section 7.4), if it was given.
        case close(code: Int?)
    }

    /// The longest frame: that of the longest packet of MQTT (MQTT 3.1.1 section 2.2.3), in bytes.
    static let limit: UInt64 = 268_435_455 + 5

    private enum State {
        case header
        case payload
        case closed
    }

    private var state = State.header
    private var header: [UInt8] = []
    /// How much of the payload is to come.
    private var left: UInt64 = 0
    /// The kind of the frame that is read; its content, if it is a control frame.
    private var kind: UInt8 = 0
    private var content: [UInt8] = []
    /// A message goes on in the next data frame.
    private var isFragmented = false

    /// - Parameter payload: what MQTT gets is added to it.
    /// - Returns: the control frames that ended, in their order. Nothing after a close is read.
    mutating func read(_ bytes: ArraySlice<UInt8>, into payload: inout [UInt8]) throws(Fault) -> [Control] {
        var (rest, controls) = (bytes, [Control]())
        while state != .closed {
            if state == .header {
                guard let byte = rest.popFirst() else { break }
                header.append(byte)
                guard let length = try completeHeader() else { continue }
                (left, state) = (length, .payload)
                header.removeAll(keepingCapacity: true)
            }
            let count = Int(min(left, UInt64(rest.count)))
            if kind & 8 == 0 { payload += rest.prefix(count) } else { content += rest.prefix(count) }
            rest = rest.dropFirst(count)
            left -= UInt64(count)
            guard left == 0 else { break }
            state = .header
            if kind & 8 != 0, let control = try takeControl() { controls.append(control) }
        }
        return controls
    }

    /// - Returns: the length of the payload; `nil` while the header is not complete.
    private mutating func completeHeader() throws(Fault) -> UInt64? {
        if header.count == 1 { try begin(header[0]) }
        guard header.count >= 2 else { return nil }
        guard header[1] & 0x80 == 0 else { throw .masked }
        let short = header[1] & 0x7F
        let isControl = kind & 8 != 0
        guard !isControl || short <= 125 else { throw .control }
        guard short > 125 else { return UInt64(short) }
        let size = short == 126 ? 2 : 8
        guard header.count == 2 + size else { return nil }
        let length = header[2...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // The shortest form has to be used (RFC 6455 section 5.2).
        guard length <= Self.limit, length > (size == 2 ? 125 : 65_535) else { throw .length }
        return length
    }

    private mutating func begin(_ first: UInt8) throws(Fault) {
        guard first & 0x70 == 0 else { throw .reservedBits }
        let isFinal = first & 0x80 != 0
        kind = first & 0x0F
        switch kind {
        case 0:
            guard isFragmented else { throw .order }
            isFragmented = !isFinal
        case 1: throw .text
        case 2:
            guard !isFragmented else { throw .order }
            isFragmented = !isFinal
        case 8, 9, 10: guard isFinal else { throw .control }
        default: throw .unknownKind
        }
    }

    private mutating func takeControl() throws(Fault) -> Control? {
        defer { content.removeAll() }
        switch kind {
        case 8:
            guard content.count != 1 else { throw .control }
            state = .closed
            return .close(code: content.isEmpty ? nil : Int(content[0]) << 8 | Int(content[1]))
        case 9: return .ping(content)
        default: return nil
        }
    }
}

/// Writes a client's frames (RFC 6455 section 5.3). Pure.
enum WebSocketWriter {
    enum Kind: UInt8 {
        case binary = 2
        case close = 8
        case pong = 10
    }

    /// - Parameter mask: unpredictable, and a new one for each frame.
    static func append(_ kind: Kind, _ payload: some Collection<UInt8>, mask: UInt32, to bytes: inout [UInt8]) {
        bytes.append(0x80 | kind.rawValue)
        let count = payload.count
        switch count {
        case ...125: bytes.append(0x80 | UInt8(count))
        case ...65_535:
            bytes.append(0x80 | 126)
            withUnsafeBytes(of: UInt16(count).bigEndian) { bytes += $0 }
        default:
            bytes.append(0x80 | 127)
            withUnsafeBytes(of: UInt64(count).bigEndian) { bytes += $0 }
        }
        withUnsafeBytes(of: mask) { key in
            bytes += key
            for (index, byte) in payload.enumerated() { bytes.append(byte ^ key[index & 3]) }
        }
    }
}
