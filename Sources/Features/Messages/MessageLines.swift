import AgentCore
import Messaging

/// A body whose lines are messages: no quoting and no parsing, for programs that send many messages.
package enum MessageLines {
    /// The most lines of one body. A megabyte of line breaks would otherwise be a million messages.
    package static let limit = 2000

    package static let flags = ["true": true, "false": false]
    package static let qualities: [String: QoS] = ["0": .atMostOnce, "1": .atLeastOnce, "2": .atLeastOnce]

    /// The lines without their line ends, LF or CR LF, which the last one may lack.
    ///
    /// - Throws: ``AgentError/badRequest(member:fault:)`` when there are too many.
    package static func split(_ body: [UInt8]) throws(AgentError) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var rest = body[...]
        while !rest.isEmpty {
            guard lines.count < limit else {
                throw .badRequest(member: "the body", fault: "has more than \(limit) lines")
            }
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            let line = rest[..<end]
            lines.append(Array(end < rest.endIndex && line.last == UInt8(ascii: "\r") ? line.dropLast() : line))
            rest = rest[min(end + 1, rest.endIndex)...]
        }
        return lines
    }
}
