public import Cryptography
public import Groundwork

/// The twelve rules for a passcode (SMP A4), with their defaults.
public struct PasscodePolicy: Sendable, Equatable {
    /// Whether these rules apply; else the defaults do, see ``applied``.
    public var isEnabled = true
    /// Days until a passcode expires, 0 to 36500; 0 for never.
    public var expirationDays = 0
    public var needsDigit = false
    public var needsLowerCase = false
    public var needsUpperCase = false
    /// Whether a character is needed that is neither a letter nor a digit.
    public var needsSpecial = false
    /// Whether the passcode may be switched off.
    public var isDefaultAllowed = true
    /// Whether it is switched off at first.
    public var isDefaultOn = false
    /// Seconds without a client until the vault locks, 0 to 31,622,400 (a leap year); 0 for no timer.
    public var lockTimeoutSeconds = 0
    /// In characters, 0 to 256.
    public var minLength = 8
    /// How many different characters are needed, 0 to 256.
    public var minUniqueCharacters = 0
    /// After this many wrong passcodes everything behind the passcode is erased, 0 to 1000; 0 for never.
    public var retryLimit = 0

    public static let expirationDaysRange = 0...36_500
    public static let lockTimeoutRange = 0...31_622_400
    /// Of lengths.
    public static let characterRange = 0...256
    public static let retryRange = 0...1000

    public init() {}

    /// The rules that apply: the defaults if these are not enabled.
    public var applied: PasscodePolicy { isEnabled ? self : PasscodePolicy() }

    /// What keeps a new passcode from being used; `nil` for nothing.
    public func fault(of entered: SecretBytes) -> PasscodeFault? {
        do throws(PasscodeFault) {
            try check(try Passcode(entered))
            return nil
        } catch {
            return error
        }
    }

    /// Checks a new passcode; the first fault in the order of SMP A4 counts.
    ///
    /// - Throws: ``PasscodeFault``
    func check(_ passcode: Passcode) throws(PasscodeFault) {
        guard !passcode.isEmpty else { throw .required }
        let (rules, characters) = (applied, passcode.characters)
        guard characters.count >= rules.minLength else { throw .short }
        if rules.needsDigit, !characters.contains(where: \.isPasscodeDigit) { throw .needsDigit }
        if rules.needsLowerCase, !characters.contains(where: \.isPasscodeLowerCase) { throw .needsLowerCase }
        if rules.needsUpperCase, !characters.contains(where: \.isPasscodeUpperCase) { throw .needsUpperCase }
        if rules.needsSpecial, !characters.contains(where: \.isPasscodeSpecial) { throw .needsSpecial }
        guard Set(characters).count >= rules.minUniqueCharacters else { throw .fewCharacters }
    }
}

extension PasscodePolicy {
    /// A rule by its names.
    public enum Rule: String, Sendable, CaseIterable {
        case enabled
        case expirationDays = "expiration_days"
        case digits, lower, upper, special
        case defaultAllowed = "default_allowed"
        case defaultOn = "default_on"
        case lockTimeout = "lock_timeout"
        case minLength = "min_length"
        case minUnique = "min_unique"
        case retryLimit = "retry_limit"

        /// The name in the settings of this board.
        public var settingName: String { rawValue }

        /// The name in the server's description of a connection; `nil` for a rule that only the device has.
        public var serverName: String? {
            switch self {
            case .enabled: "PasswordPolicyEnabled"
            case .expirationDays: "PasswordPolicyExpiresInNDays"
            case .digits: "PasswordPolicyDigitRequired"
            case .lower: "PasswordPolicyLowerRequired"
            case .upper: "PasswordPolicyUpperRequired"
            case .special: "PasswordPolicySpecialRequired"
            case .defaultAllowed: "PasswordPolicyDefaultPasswordAllowed"
            case .defaultOn: nil
            case .lockTimeout: "PasswordPolicyLockTimeout"
            case .minLength: "PasswordPolicyMinLength"
            case .minUnique: "PasswordPolicyMinUniqueChars"
            case .retryLimit: "PasswordPolicyRetryLimit"
            }
        }

        fileprivate var place: Place {
            switch self {
            case .enabled: .truth(\.isEnabled)
            case .expirationDays: .number(\.expirationDays, PasscodePolicy.expirationDaysRange)
            case .digits: .truth(\.needsDigit)
            case .lower: .truth(\.needsLowerCase)
            case .upper: .truth(\.needsUpperCase)
            case .special: .truth(\.needsSpecial)
            case .defaultAllowed: .truth(\.isDefaultAllowed)
            case .defaultOn: .truth(\.isDefaultOn)
            case .lockTimeout: .number(\.lockTimeoutSeconds, PasscodePolicy.lockTimeoutRange)
            case .minLength: .number(\.minLength, PasscodePolicy.characterRange)
            case .minUnique: .number(\.minUniqueCharacters, PasscodePolicy.characterRange)
            case .retryLimit: .number(\.retryLimit, PasscodePolicy.retryRange)
            }
        }
    }

    fileprivate enum Place {
        case truth(WritableKeyPath<PasscodePolicy, Bool>)
        case number(WritableKeyPath<PasscodePolicy, Int>, ClosedRange<Int>)
    }

    /// Rules by their names in the settings.
    ///
    /// - Throws: ``PasscodeFault/argument`` for anything but an object, for an unknown name, and for a value of another
    ///   type or out of its range. Rules that are not named have their defaults.
    public init(_ json: JSON) throws(PasscodeFault) {
        guard let members = json.object else { throw .argument }
        for (name, value) in members {
            guard let rule = Rule(rawValue: name) else { throw .argument }
            try set(rule, to: value)
        }
    }

    /// Rules by the names of a server's connection, whose other fields are ignored; `null` is as a missing one.
    ///
    /// - Throws: ``PasscodeFault/argument`` for anything but an object, and for a value of another type or out of its
    ///   range.
    public init(server json: JSON) throws(PasscodeFault) {
        guard let members = json.object else { throw .argument }
        for rule in Rule.allCases {
            guard let name = rule.serverName, let value = members[name], value != .null else { continue }
            try set(rule, to: value)
        }
    }

    private mutating func set(_ rule: Rule, to value: JSON) throws(PasscodeFault) {
        switch rule.place {
        case .truth(let place):
            guard let truth = value.bool else { throw .argument }
            self[keyPath: place] = truth
        case .number(let place, let range):
            guard let number = value.integer.flatMap(Int.init(exactly:)), range.contains(number) else {
                throw .argument
            }
            self[keyPath: place] = number
        }
    }

    /// All rules by their names in the settings.
    public var json: JSON {
        .object(
            Dictionary(
                uniqueKeysWithValues: Rule.allCases.map { rule in
                    switch rule.place {
                    case .truth(let place): (rule.rawValue, .bool(self[keyPath: place]))
                    case .number(let place, _): (rule.rawValue, .integer(Int64(self[keyPath: place])))
                    }
                }))
    }
}
