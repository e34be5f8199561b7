import Groundwork

/// Names of hosts.
public enum HostName {
    /// Whether a text is a DNS name, or an IPv4 address in the usual notation: libcurl takes anything else that ends
    /// in a number for an address in another notation.
    public static func isValid(_ text: String) -> Bool {
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
