import Groundwork
import Testing

// Lines of a script's log in which two boards tell of themselves.

/// What was seen from outside, in order.
func observed(_ name: String, in lines: [JSON]) -> [Int64] {
    lines.filter { $0["event"]?.string == "observed" && $0["name"]?.string == name }.compactMap {
        $0["value"]?.integer
    }
}

func events(of board: String, in lines: [JSON]) -> [JSON] { lines.filter { $0["board"]?.string == board } }

func event(_ name: String, of board: String, in lines: [JSON]) throws -> JSON {
    try #require(events(of: board, in: lines).last { $0["event"]?.string == name }, "no \(name) of board \(board)")
}

func count(_ name: String, of board: String, in lines: [JSON]) -> Int {
    events(of: board, in: lines).count { $0["event"]?.string == name }
}

/// The numbers of MAG 8.6 that a board told, in order.
func states(of board: String, in lines: [JSON]) -> [Int64] {
    events(of: board, in: lines).compactMap {
        $0["state_android"]?.integer ?? $0["data"]?["state_android"]?.integer
    }
}

/// Those from the last of one number on: what failed before it, such as a connection that did not come about, is
/// the radio's business.
func states(of board: String, since first: Int64, in lines: [JSON]) -> [Int64] {
    let all = states(of: board, in: lines)
    return Array(all.suffix(from: all.lastIndex(of: first) ?? all.endIndex))
}
