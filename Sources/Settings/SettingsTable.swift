public import Groundwork

/// A table of a TOML file, read strictly: every fault is recorded with its key path, and so is every unknown key.
///
/// A wrong value is recorded once and read as absent, so that one pass finds all faults of a file.
public struct SettingsTable {
    private let members: [String: JSON]
    private let keyPath: String
    private var known: [String] = []
    public private(set) var faults: [SettingsFault] = []
    /// Every setting that was read; `nil` unless a survey was asked for.
    public private(set) var survey: [SurveyedSetting]?

    /// - Parameter isSurvey: also records each setting, and reads tables that the file lacks as empty ones.
    public init(_ members: [String: JSON], at keyPath: String = "", isSurvey: Bool = false) {
        self.members = members
        self.keyPath = keyPath
        if isSurvey { survey = [] }
    }

    /// The path of a key of this table.
    public func path(of key: String) -> String { keyPath.isEmpty ? key : "\(keyPath).\(key)" }

    public mutating func note(_ key: String, _ fault: String, fix: String) {
        faults.append(SettingsFault(keyPath: path(of: key), fault: fault, fix: fix))
    }

    /// Takes over the faults of a table inside this one.
    public mutating func adopt(_ inner: [SettingsFault]) { faults += inner }

    /// Takes over the faults and the survey of a table inside this one.
    public mutating func adopt(_ inner: SettingsTable) {
        faults += inner.faults
        survey? += inner.survey ?? []
    }

    /// Records a setting for a survey.
    ///
    /// - Parameters:
    ///   - preset: its default.
    ///   - value: the value in force.
    public mutating func record(_ key: String, preset: @autoclosure () -> JSON, value: @autoclosure () -> JSON) {
        guard survey != nil else { return }
        let setting = SurveyedSetting(keyPath: path(of: key), value: value(), preset: preset())
        survey?.append(setting)
    }

    /// Records the keys that were never read. Called after all known keys have been read.
    public mutating func refuseUnknownKeys() {
        for key in members.keys.sorted() where !known.contains(key) {
            note(key, "unknown key", fix: "keys known here: \(known.joined(separator: ", "))")
        }
    }

    public func has(_ key: String) -> Bool { members[key] != nil }
    public func isNumber(_ key: String) -> Bool { members[key]?.number != nil }

    public mutating func string(_ key: String, required fix: String? = nil) -> String? {
        value(key, "a string", required: fix) { $0.string.flatMap { $0.isEmpty ? nil : $0 } }
    }

    /// A string, or several in an array.
    public mutating func strings(_ key: String, required fix: String? = nil) -> [String]? {
        value(key, "a string or an array of strings", required: fix) { value in
            if let string = value.string, !string.isEmpty { return [string] }
            guard let elements = value.array, !elements.isEmpty else { return nil }
            let strings = elements.compactMap(\.string).filter { !$0.isEmpty }
            return strings.count == elements.count ? strings : nil
        }
    }

    /// A string that may be empty.
    public mutating func text(_ key: String) -> String? { value(key, "a string") { $0.string } }

    /// Strings in an array that may be empty.
    public mutating func texts(_ key: String) -> [String]? {
        value(key, "an array of strings") { value in
            value.array.flatMap { elements in
                let strings = elements.compactMap(\.string)
                return strings.count == elements.count ? strings : nil
            }
        }
    }

    public mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(_ key: String, of type: Choice.Type)
        -> Choice?
    {
        guard let word = string(key) else { return nil }
        if let choice = Choice(rawValue: word) { return choice }
        let words = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        note(key, "invalid value \"\(word)\"", fix: "use one of \(words)")
        return nil
    }

    public mutating func bool(_ key: String) -> Bool? { value(key, "true or false") { $0.bool } }

    public mutating func integer(_ key: String, in range: ClosedRange<Int64>) -> Int64? {
        value(key, "a whole number from \(range.lowerBound) to \(range.upperBound)") { value in
            guard case .integer(let integer) = value, range.contains(integer) else { return nil }
            return integer
        }
    }

    /// Whole numbers in an array that may be empty, each once.
    public mutating func integers(_ key: String, in range: ClosedRange<Int>) -> [Int]? {
        value(key, "an array of whole numbers from \(range.lowerBound) to \(range.upperBound), each once") { value in
            guard let elements = value.array else { return nil }
            let numbers = elements.compactMap { $0.integer.flatMap { Int(exactly: $0) } }.filter(range.contains)
            return numbers.count == elements.count && Set(numbers).count == numbers.count ? numbers : nil
        }
    }

    public mutating func number(_ key: String) -> Double? {
        value(key, "a finite number") { $0.number.flatMap { $0.isFinite ? $0 : nil } }
    }

    /// A number of seconds.
    public mutating func seconds(_ key: String, from least: Double = 0) -> Duration? {
        let day = 86_400.0
        return value(key, "a number of seconds from \(least) to \(day)") { value in
            value.number.flatMap { (least...day).contains($0) ? .seconds($0) : nil }
        }
    }

    public mutating func table(_ key: String) -> SettingsTable? {
        let isSurvey = survey != nil
        if isSurvey, !has(key) { return SettingsTable([:], at: path(of: key), isSurvey: true) }
        return value(key, "a table") { $0.object }.map { SettingsTable($0, at: path(of: key), isSurvey: isSurvey) }
    }

    public mutating func tables(_ key: String, atMost limit: Int) -> [SettingsTable] {
        let tables = value(key, "an array of at most \(limit) tables") { value -> [[String: JSON]]? in
            guard let elements = value.array, elements.count <= limit else { return nil }
            let tables = elements.compactMap(\.object)
            return tables.count == elements.count ? tables : nil
        }
        let written = members[key] ?? []
        record(key, preset: [], value: written)
        return (tables ?? []).enumerated().map { SettingsTable($0.element, at: "\(path(of: key))[\($0.offset)]") }
    }

    private mutating func value<Value>(
        _ key: String, _ expected: String, required fix: String? = nil, _ read: (JSON) -> Value?
    ) -> Value? {
        if !known.contains(key) { known.append(key) }
        guard let member = members[key] else {
            if let fix { note(key, "missing", fix: fix) }
            return nil
        }
        guard let value = read(member) else {
            note(key, "is \(member.shortened)", fix: "write \(expected)")
            return nil
        }
        return value
    }
}

extension JSON {
    /// The value, short enough for a message.
    fileprivate var shortened: String {
        if case .number(let value) = self, !value.isFinite { return "\(value)" }
        let text = text
        return text.count <= 40 ? text : "\(text.prefix(40))…"
    }
}
