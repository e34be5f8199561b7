import Groundwork

/// How the events of a stream are written.
public enum StreamForm: Sendable {
    /// Server-Sent Events (HTML standard, section 9.2).
    case serverSent
    /// NDJSON: one JSON object per line.
    case lines
    /// Messages as bare bytes, for routes that have such. Each frame has a byte for its kind, four for its length, the
    /// most significant one first, and that many bytes.
    case frames

    static let all: [StreamForm] = [.serverSent, .lines, .frames]

    public var mediaType: String {
        switch self {
        case .serverSent: "text/event-stream"
        case .lines: "application/x-ndjson"
        case .frames: "application/vnd.latchkey.frames"
        }
    }

    /// The form that a client names most closely (RFC 9110 section 12.5.1); of equal ones the first offered. Of the
    /// weights, only those of 0 count.
    ///
    /// - Parameter accepted: the values of `Accept`; without any, every form is accepted.
    /// - Returns: `nil` if the client accepts none of those offered.
    static func preferred(of offered: [StreamForm], accepted: [String]) -> StreamForm? {
        guard !accepted.isEmpty else { return offered.first }
        var (best, bestPrecision) = (StreamForm?.none, 0)
        for form in offered {
            // The range that names the form most closely decides.
            var (isExcluded, precision) = (false, 0)
            for range in accepted.joined(separator: ",").lowercased().split(separator: ",") {
                let parts = range.split(separator: ";")
                let closeness = Self.closeness(of: parts.first ?? "", to: form.mediaType)
                guard closeness > precision else { continue }
                (isExcluded, precision) = (parts.dropFirst().contains(where: isZero), closeness)
            }
            if !isExcluded, precision > bestPrecision { (best, bestPrecision) = (form, precision) }
        }
        return best
    }

    /// 0 if the range does not include the type; more the more closely it names it.
    private static func closeness(of range: Substring, to mediaType: String) -> Int {
        let name = String(range).trimmed
        if name == mediaType { return 3 }
        if name == "*/*" { return 1 }
        return name.hasSuffix("/*") && mediaType.hasPrefix(String(name.dropLast())) ? 2 : 0
    }

    /// Whether the parameter is a weight of 0: not acceptable.
    private static func isZero(_ parameter: Substring) -> Bool {
        let text = String(parameter).trimmed
        return text.hasPrefix("q=0") && text.utf8.dropFirst(2).allSatisfy { $0 == 0x30 || $0 == 0x2E }
    }
}

// MARK: - Writing

extension StreamForm {
    /// The first byte of a frame with the bytes of a message.
    static let messageKind: UInt8 = 0
    /// The first byte of a frame with any other event, as a line of NDJSON without its line feed.
    static let eventKind: UInt8 = 1
    /// The bytes before the content of a frame.
    static let frameHead = 5

    /// Appends an event.
    ///
    /// - Parameter data: JSON text without a line break.
    public func write(_ name: String, id: String? = nil, data: [UInt8], to output: inout [UInt8]) {
        write(name, id: id, to: &output) { $0 += data }
    }

    /// Appends an event.
    ///
    /// - Parameter writeData: appends JSON text without a line break.
    public func write(
        _ name: String, id: String? = nil, to output: inout [UInt8], writeData: (inout [UInt8]) -> Void
    ) {
        switch self {
        case .serverSent:
            let head = id.map { "id: " + Self.oneLine($0) + "\n" } ?? ""
            output += (head + "event: " + Self.oneLine(name) + "\ndata: ").utf8
            writeData(&output)
            output += "\n\n".utf8
        case .lines:
            Self.writeLine(name, id, to: &output, writeData)
            output.append(UInt8(ascii: "\n"))
        case .frames:
            var line: [UInt8] = []
            Self.writeLine(name, id, to: &line, writeData)
            Self.frame(Self.eventKind, line, to: &output)
        }
    }

    /// With its members in order, as ``JSON/bytes`` has them.
    private static func writeLine(
        _ name: String, _ id: String?, to output: inout [UInt8], _ writeData: (inout [UInt8]) -> Void
    ) {
        output += #"{"data":"#.utf8
        writeData(&output)
        output += #","event":"#.utf8
        JSON.write(name, to: &output)
        if let id {
            output += #","id":"#.utf8
            JSON.write(id, to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }

    /// Appends a frame with the bytes of a message.
    public static func write(frame message: [UInt8], to output: inout [UInt8]) {
        frame(messageKind, message, to: &output)
    }

    private static func frame(_ kind: UInt8, _ content: [UInt8], to output: inout [UInt8]) {
        output.append(kind)
        for place in 0..<4 { output.append(UInt8(truncatingIfNeeded: content.count >> (24 - 8 * place))) }
        output += content
    }

    func bytes(of event: LocalEvent) -> [UInt8] {
        var output: [UInt8] = []
        write(event.name, id: event.id, data: event.data.bytes, to: &output)
        return output
    }

    /// Removes only characters that would end a line of Server-Sent Events; a program reads it, not a terminal.
    private static func oneLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 }))
    }
}
