import AgentCore
import HTTPClient
import Messaging

extension TextRule {
    /// A topic to publish to, below the device's own.
    package static let topic = TextRule {
        (try? Topic($0)) == nil
            ? ("is not a topic to publish to", "write levels with / between them, without + and #") : nil
    }
    package static let topicLevel = TextRule {
        (try? Topic($0)) == nil || $0.contains("/")
            ? ("is not one level of a topic", "leave out slashes, + and #, and do not leave it empty") : nil
    }
    /// Where the topics of a board are at a broker without a gateway.
    package static let topicTemplate = TextRule {
        (try? TopicNamespace(template: $0, deviceID: "device")) == nil
            ? ("is not a template of topics", "end it with the level {name}, such as \"sites/{device}/{name}\"") : nil
    }
    /// A protocol that TLS names to the server (ALPN, RFC 7301), or nothing.
    package static let applicationProtocol = TextRule {
        $0.utf8.count > 255 ? ("has more than 255 bytes", "write the name of one protocol, such as \"mqtt\"") : nil
    }
    /// A host name or an address, without scheme and port; an IPv6 address also in brackets, or with a zone.
    package static let hostOrEmpty = TextRule {
        $0.isEmpty || isHost($0)
            ? nil : ("is not a host name or an address", "write it without scheme and port, such as fe80::1%eth0")
    }

    /// A part of the broker's login, with these names in braces.
    package static func logInTemplate(_ names: Set<String>) -> TextRule {
        TextRule { LoginTemplate.fault(of: $0, knowing: names) }
    }

    private static func isHost(_ text: String) -> Bool {
        guard text.contains(":") else {
            return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
        }
        let parts = HostName.bare(text).split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard HostName.isValid(String(parts[0])) else { return false }
        // The name of an interface, or its number (RFC 4007 section 11.2).
        return parts.count == 1
            || (1...15).contains(parts[1].utf8.count)
                && parts[1].utf8.allSatisfy { (0x21...0x7E).contains($0) && !"/%:[]".utf8.contains($0) }
    }
}
