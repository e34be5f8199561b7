import Groundwork
import Messaging
import Settings

/// What a text has to be.
enum TextRule {
    case any, notEmpty, plainName, absolutePath, absolutePathOrEmpty
    /// A topic to publish to, below the device's own.
    case topic
    case topicLevel
    /// A host name or an address, without scheme and port.
    case hostOrEmpty

    func fault(of text: String) -> (fault: String, fix: String)? {
        switch self {
        case .any: nil
        case .notEmpty: text.isEmpty ? ("is empty", "write a value, or leave the key out") : nil
        case .topic:
            (try? Topic(text)) == nil
                ? ("is no topic to publish to", "write levels with / between them, without + and #") : nil
        case .topicLevel:
            (try? Topic(text)) == nil || text.contains("/")
                ? ("is not one level of a topic", "leave out slashes, + and #, and do not leave it empty") : nil
        case .hostOrEmpty:
            text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._:".contains($0)) }
                ? nil : ("is no host name and no address", "write it without scheme, port and brackets")
        case .plainName:
            text.isEmpty || text.contains("/")
                ? ("is no plain name", "leave out slashes, and do not leave it empty") : nil
        case .absolutePath: text.hasPrefix("/") ? nil : ("is not an absolute path", "start it with /")
        case .absolutePathOrEmpty:
            text.isEmpty || text.hasPrefix("/") ? nil : ("is not an absolute path", "start it with /")
        }
    }
}

/// Reads keys into the places they are kept in; a key that is absent or wrong leaves its place as it is.
extension SettingsTable {
    /// Reads a table inside this one, and refuses the keys in it that nobody asked for.
    mutating func table(_ key: String, read: (inout SettingsTable) -> Void) {
        guard var inner = table(key) else { return }
        read(&inner)
        inner.refuseUnknownKeys()
        adopt(inner.faults)
    }

    mutating func string(_ key: String, _ place: inout String, _ rule: TextRule) {
        guard let text = text(key) else { return }
        if let wrong = rule.fault(of: text) { return note(key, wrong.fault, fix: wrong.fix) }
        place = text
    }

    mutating func strings(_ key: String, _ place: inout [String]) {
        if let texts = texts(key) { place = texts }
    }

    mutating func flag(_ key: String, _ place: inout Bool) {
        if let flag = bool(key) { place = flag }
    }

    mutating func integer(_ key: String, _ place: inout Int, in range: ClosedRange<Int>) {
        if let number = integer(key, in: Int64(range.lowerBound)...Int64(range.upperBound)) { place = Int(number) }
    }

    mutating func choice<Choice>(_ key: String, _ place: inout Choice, _ choices: [(name: String, value: Choice)]) {
        guard let name = text(key) else { return }
        guard let choice = choices.first(where: { $0.name == name }) else {
            let names = choices.map(\.name).joined(separator: ", ")
            return note(key, "invalid value \"\(name)\"", fix: "use one of \(names)")
        }
        place = choice.value
    }
}
