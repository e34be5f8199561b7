import Glibc
import Groundwork

/// The hosts that are reached without a proxy, as libcurl reads them from `no_proxy` since its version 7.86.
///
/// Names stand for themselves and all names below them. Numeric hosts are those of the list, alone or in a network such
/// as `10.0.0.0/8` or `fe80::/10`; a network with no bits is its address alone.
struct ProxyExceptions {
    let list: String

    func contains(_ host: String) -> Bool {
        guard list != "*" else { return true }
        let entries = list.split { $0 == "," || $0 == " " || $0 == "\t" }
        guard let address = Self.address(HostName.bare(host)) else {
            let name = Self.name(host[...])
            return entries.contains { Self.covers(Self.name($0.first == "." ? $0.dropFirst() : $0), name) }
        }
        return entries.contains { Self.hasNetwork($0, address) }
    }

    private static func name(_ text: Substring) -> String {
        (text.last == "." ? text.dropLast() : text).lowercased()
    }

    private static func covers(_ domain: String, _ name: String) -> Bool {
        !domain.isEmpty && (name == domain || name.hasSuffix(".\(domain)"))
    }

    /// Whether an entry is a network that an address is in. One of more bits than an address has, or without a number
    /// of bits after its slash, is none.
    private static func hasNetwork(_ entry: Substring, _ address: [UInt8]) -> Bool {
        let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let network = Self.address(String(parts[0])), network.count == address.count else { return false }
        guard parts.count > 1 else { return network == address }
        guard let bits = Int(parts[1]), (0...8 * address.count).contains(bits) else { return false }
        guard bits > 0 else { return network == address }
        let (whole, rest) = bits.quotientAndRemainder(dividingBy: 8)
        guard network.prefix(whole) == address.prefix(whole) else { return false }
        return rest == 0 || (network[whole] ^ address[whole]) >> (8 - rest) == 0
    }

    /// The bytes of an address in the usual notation, without brackets; `nil` for a name.
    private static func address(_ text: String) -> [UInt8]? {
        let isLong = text.contains(":")
        var bytes = [UInt8](repeating: 0, count: isLong ? 16 : 4)
        return inet_pton(isLong ? AF_INET6 : AF_INET, text, &bytes) == 1 ? bytes : nil
    }
}
