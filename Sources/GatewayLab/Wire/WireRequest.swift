/// A request in the form of the protocol, without socket and server library.
struct WireRequest: Sendable {
    /// Longest body that is read, in bytes.
    static let bodyLimit = 1 << 20

    var method: String
    /// Below the prefix, without the query.
    var path: String
    /// The text after the first `?`, unchanged.
    var query = ""
    /// In the received order and spelling.
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// DER of the client's certificate in the handshake; it is from the lab's CA, but may have expired.
    var certificate: [UInt8]?
    /// What the M-Pin back end is to get wrong in its answer.
    var lie: MPinLie?

    /// The header's value without white space around it; `nil` when it is absent or blank.
    ///
    /// A blank `Authorization` counts as none (MAG quirk Q3), so blank counts as none everywhere.
    func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        for header in headers where header.name.lowercased() == wanted {
            let value = header.value.trimmed
            return value.isEmpty ? nil : value
        }
        return nil
    }

    func headerCount(_ name: String) -> Int {
        let wanted = name.lowercased()
        return headers.count { $0.name.lowercased() == wanted && !$0.value.trimmed.isEmpty }
    }
}

extension StringProtocol {
    /// The text without spaces, tabs and line ends at both ends.
    var trimmed: String {
        let blank: Set<Character> = [" ", "\t", "\r", "\n", "\r\n"]
        return String(drop { blank.contains($0) }.reversed().drop { blank.contains($0) }.reversed())
    }
}
