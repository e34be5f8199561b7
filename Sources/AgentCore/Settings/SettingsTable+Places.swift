import Cryptography
import Groundwork
import Settings
import Vault

/// A rule that a text has to meet.
package struct TextRule: Sendable {
    /// What is wrong with a text, and what to write instead.
    package let fault: @Sendable (String) -> (fault: String, fix: String)?

    package init(_ fault: @escaping @Sendable (String) -> (fault: String, fix: String)?) { self.fault = fault }

    package static let any = TextRule { _ in nil }
    package static let notEmpty = TextRule { $0.isEmpty ? ("is empty", "write a value, or leave the key out") : nil }
    package static let plainName = TextRule {
        $0.isEmpty || $0.contains("/") ? ("is not a plain name", "leave out slashes, and do not leave it empty") : nil
    }
    package static let absolutePath = TextRule {
        $0.hasPrefix("/") ? nil : ("is not an absolute path", "start it with /")
    }
    package static let absolutePathOrEmpty = TextRule { $0.isEmpty ? nil : absolutePath.fault($0) }
    package static let accountName = TextRule {
        AccountName($0) == nil
            ? ("is not the name of an account", "use lower-case letters, digits and hyphens, at most 32") : nil
    }
    package static let tokenURIOrEmpty = TextRule { $0.isEmpty ? nil : fault(ofURI: $0) }
    /// Where a key is made.
    package static let keyPlace = TextRule { text in
        if text.hasPrefix("pkcs11:") { return fault(ofURI: text) }
        guard KeyReference.Keeper(rawValue: text) == nil else { return nil }
        return ("invalid value \"\(text)\"", "use one of software, tpm, pkcs11, or the pkcs11: URI of a token or key")
    }

    private static func fault(ofURI text: String) -> (fault: String, fix: String)? {
        do throws(VaultError) {
            _ = try TokenURI(text)
            return nil
        } catch {
            return (error.message, error.remedy ?? "write it as RFC 7512 says")
        }
    }

    package static let accountNameOrEmpty = TextRule { $0.isEmpty ? nil : accountName.fault($0) }
}

/// Reads keys into the properties that hold them; an absent or wrong key leaves its property unchanged.
extension SettingsTable {
    /// Reads a table inside this one, and refuses its unknown keys.
    package mutating func table(_ key: String, read: (inout SettingsTable) -> Void) {
        guard var inner = table(key) else { return }
        read(&inner)
        inner.refuseUnknownKeys()
        adopt(inner)
    }

    package mutating func string(_ key: String, _ place: inout String, _ rule: TextRule) {
        let preset = place
        defer { record(key, preset: .string(preset), value: .string(place)) }
        guard let text = text(key) else { return }
        if let wrong = rule.fault(text) { return note(key, wrong.fault, fix: wrong.fix) }
        place = text
    }

    package mutating func strings(_ key: String, _ place: inout [String]) {
        let preset = place
        defer { record(key, preset: .array(preset.map(JSON.string)), value: .array(place.map(JSON.string))) }
        if let texts = texts(key) { place = texts }
    }

    /// The certificates of a file that the key `certificates` names.
    ///
    /// - Returns: at least one; `nil` if the file cannot be used, which is a fault then.
    package mutating func certificates(in path: String, limit: Int) -> [Certificate]? {
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

    package mutating func flag(_ key: String, _ place: inout Bool) {
        let preset = place
        defer { record(key, preset: .bool(preset), value: .bool(place)) }
        if let flag = bool(key) { place = flag }
    }

    package mutating func integer(_ key: String, _ place: inout Int, in range: ClosedRange<Int>) {
        let preset = place
        defer { record(key, preset: .integer(Int64(preset)), value: .integer(Int64(place))) }
        if let number = integer(key, in: Int64(range.lowerBound)...Int64(range.upperBound)) { place = Int(number) }
    }

    package mutating func choice<Choice: Equatable>(
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

    /// One of the choices, or several in an array, each once.
    package mutating func choices<Choice: Equatable>(
        _ key: String, _ place: inout [Choice], _ choices: [(name: String, value: Choice)]
    ) {
        let preset = place
        func json(_ values: [Choice]) -> JSON {
            let names = values.map { value in JSON.string(choices.first { $0.value == value }?.name ?? "") }
            return names.count == 1 ? names[0] : .array(names)
        }
        defer { record(key, preset: json(preset), value: json(place)) }
        guard let names = strings(key) else { return }
        let chosen = names.compactMap { name in choices.first { $0.name == name }?.value }
        guard chosen.count == names.count, Set(names).count == names.count else {
            let known = choices.map(\.name).joined(separator: ", ")
            return note(
                key, "invalid value \(names.map { "\"\($0)\"" }.joined(separator: ", "))",
                fix: "use one of \(known), or several in an array, each once")
        }
        place = chosen
    }

    /// Whole numbers in an array that may be empty, each once.
    package mutating func integers(_ key: String, _ place: inout [Int], in range: ClosedRange<Int>) {
        let preset = place
        func json(_ values: [Int]) -> JSON { .array(values.map { .integer(Int64($0)) }) }
        defer { record(key, preset: json(preset), value: json(place)) }
        guard let numbers = integers(key, in: range) else { return }
        place = numbers
    }
}
