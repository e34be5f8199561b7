import Glibc
import Groundwork

/// Names of hosts.
public enum HostName {
    /// Whether a text is a DNS name, an IPv4 address in the usual notation, or an IPv6 address with or without brackets.
    public static func isValid(_ text: String) -> Bool { canonical(text) != nil }

    /// A host in one spelling: lower case, and an IPv6 address in brackets as RFC 5952 writes it, so that a port can
    /// follow and texts can be compared.
    ///
    /// - Returns: `nil` for anything else, such as an address with a zone, which means something on one machine only.
    public static func canonical(_ text: String) -> String? {
        if text.contains(":") { return ipv6(bare(text)).map { "[\($0)]" } }
        return isNameOrIPv4(text) ? text.lowercased() : nil
    }

    /// An IPv6 address without the brackets that separate it from a port; anything else unchanged.
    public static func bare(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    /// Whether a host is written as an IP address.
    public static func isAddress(_ host: String) -> Bool {
        var address = in_addr()
        return ipv6(bare(host)) != nil || inet_pton(AF_INET, host, &address) == 1
    }

    /// Splits `host:port`, where an IPv6 address is in brackets. Neither part is checked.
    ///
    /// - Returns: without a port where there is no colon after the host.
    public static func split(_ authority: some StringProtocol) -> (host: String, port: String?) {
        let address = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        let colon = authority[(address ?? authority.startIndex)...].firstIndex(of: ":")
        guard let colon else { return (String(authority), nil) }
        return (String(authority[..<colon]), String(authority[authority.index(after: colon)...]))
    }

    private static func ipv6(_ text: String) -> String? {
        var address = in6_addr()
        guard !text.utf8.contains(0), inet_pton(AF_INET6, text, &address) == 1 else { return nil }
        var written = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, &address, &written, socklen_t(written.count)) != nil else { return nil }
        return String(decoding: written.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// libcurl takes anything else that ends in a number for an address in another notation.
    private static func isNameOrIPv4(_ text: String) -> Bool {
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        let areLabels = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy {
                    ASCII.isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
                }
        }
        guard (1...253).contains(text.utf8.count), areLabels, let last = labels.last?.lowercased() else { return false }
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        let endsInNumber = last.hasPrefix("0x") || last.utf8.allSatisfy(digits.contains)
        let isAddress = labels.count == 4 && labels.allSatisfy { UInt8($0).map(String.init) == String($0) }
        return !endsInNumber || isAddress
    }
}
