import Board
import Cryptography
import Groundwork
import HTTPClient
import Messaging
import Settings

/// A rule that a text has to meet.
enum TextRule {
    case any, notEmpty, plainName, absolutePath, absolutePathOrEmpty
    /// A topic to publish to, below the device's own.
    case topic
    case topicLevel
    case accountName
    /// A part of the broker's login, with these names in braces.
    case logInTemplate(Set<String>)
    /// A host name or an address, without scheme and port; an IPv6 address also in brackets, or with a zone.
    case hostOrEmpty
    case gpsdAddress
    /// A protocol that TLS names to the server (ALPN, RFC 7301), or nothing.
    case applicationProtocol
    /// A number by ITU-T E.164, or nothing.
    case telephoneNumber

    func fault(of text: String) -> (fault: String, fix: String)? {
        switch self {
        case .any: nil
        case .notEmpty: text.isEmpty ? ("is empty", "write a value, or leave the key out") : nil
        case .topic:
            (try? Topic(text)) == nil
                ? ("is not a topic to publish to", "write levels with / between them, without + and #") : nil
        case .topicLevel:
            (try? Topic(text)) == nil || text.contains("/")
                ? ("is not one level of a topic", "leave out slashes, + and #, and do not leave it empty") : nil
        case .logInTemplate(let names): LogInTemplate.fault(of: text, knowing: names)
        case .hostOrEmpty:
            text.isEmpty || Self.isHost(text)
                ? nil : ("is not a host name or an address", "write it without scheme and port, such as fe80::1%eth0")
        case .gpsdAddress:
            GPSDAddress(text) == nil
                ? ("is not where gpsd can be asked", "write 127.0.0.1:2947, [::1]:2947 or the path of a socket") : nil
        case .applicationProtocol:
            text.utf8.count > 255
                ? ("has more than 255 bytes", "write the name of one protocol, such as \"mqtt\"") : nil
        case .telephoneNumber:
            text.isEmpty || Self.isTelephoneNumber(text.hasPrefix("+") ? text.dropFirst() : text[...])
                ? nil : ("is not a telephone number", "write at most 15 digits, with or without + before them")
        case .accountName:
            AccountName(text) == nil
                ? ("is not the name of an account", "use lower-case letters, digits and hyphens, at most 32") : nil
        case .plainName:
            text.isEmpty || text.contains("/")
                ? ("is not a plain name", "leave out slashes, and do not leave it empty") : nil
        case .absolutePath: text.hasPrefix("/") ? nil : ("is not an absolute path", "start it with /")
        case .absolutePathOrEmpty:
            text.isEmpty || text.hasPrefix("/") ? nil : ("is not an absolute path", "start it with /")
        }
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

    private static func isTelephoneNumber(_ digits: Substring) -> Bool {
        (1...15).contains(digits.utf8.count) && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

/// Reads keys into the properties that hold them; an absent or wrong key leaves its property unchanged.
extension SettingsTable {
    /// Reads a table inside this one, and refuses its unknown keys.
    mutating func table(_ key: String, read: (inout SettingsTable) -> Void) {
        guard var inner = table(key) else { return }
        read(&inner)
        inner.refuseUnknownKeys()
        adopt(inner)
    }

    mutating func string(_ key: String, _ place: inout String, _ rule: TextRule) {
        let preset = place
        defer { record(key, preset: .string(preset), value: .string(place)) }
        guard let text = text(key) else { return }
        if let wrong = rule.fault(of: text) { return note(key, wrong.fault, fix: wrong.fix) }
        place = text
    }

    mutating func strings(_ key: String, _ place: inout [String]) {
        let preset = place
        defer { record(key, preset: .array(preset.map(JSON.string)), value: .array(place.map(JSON.string))) }
        if let texts = texts(key) { place = texts }
    }

    /// The certificates of a file that the key `certificates` names.
    ///
    /// - Returns: at least one; `nil` if the file cannot be used, which is a fault then.
    mutating func certificates(in path: String, limit: Int) -> [Certificate]? {
        let reason: String
        do {
            return try Certificate.some(inFile: try BoundedFile.read(path, limit: limit, .anything))
        } catch let error as FileFault {
            reason = error.description
        } catch {
            reason = (error as? CryptographyError)?.reason ?? "\(error)"
        }
        note("certificates", "cannot use \(path): \(reason)", fix: "name a file with certificates in PEM")
        return nil
    }

    mutating func flag(_ key: String, _ place: inout Bool) {
        let preset = place
        defer { record(key, preset: .bool(preset), value: .bool(place)) }
        if let flag = bool(key) { place = flag }
    }

    mutating func integer(_ key: String, _ place: inout Int, in range: ClosedRange<Int>) {
        let preset = place
        defer { record(key, preset: .integer(Int64(preset)), value: .integer(Int64(place))) }
        if let number = integer(key, in: Int64(range.lowerBound)...Int64(range.upperBound)) { place = Int(number) }
    }

    mutating func choice<Choice: Equatable>(
        _ key: String, _ place: inout Choice, _ choices: [(name: String, value: Choice)]
    ) {
        let preset = place
        defer {
            record(
                key, preset: .string(choices.first { $0.value == preset }?.name ?? ""),
                value: .string(choices.first { $0.value == place }?.name ?? ""))
        }
        guard let name = text(key) else { return }
        guard let choice = choices.first(where: { $0.name == name }) else {
            let names = choices.map(\.name).joined(separator: ", ")
            return note(key, "invalid value \"\(name)\"", fix: "use one of \(names)")
        }
        place = choice.value
    }
}
