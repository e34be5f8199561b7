import Cryptography
import Groundwork
import Testing

@testable import Vault

@Suite("Passcode policy")
struct PasscodePolicyTests {
    /// A rule alone, passcodes that break only it, and the number of the fault.
    struct Row: Sendable {
        let rule: PasscodePolicy.Rule
        let value: JSON
        let broken: String
        let kept: String
        let number: Int
    }

    /// In the order in which faults count.
    static let rows = [
        Row(rule: .minLength, value: .integer(10), broken: "aB1!cdefg", kept: "aB1!cdefgh", number: 14),
        Row(rule: .digits, value: .bool(true), broken: "aBcdefgh!", kept: "aBcdefgh!1", number: 10),
        Row(rule: .lower, value: .bool(true), broken: "ABCDEFG1!", kept: "ABCDEFG1!a", number: 11),
        Row(rule: .upper, value: .bool(true), broken: "abcdefg1!", kept: "abcdefg1!A", number: 13),
        Row(rule: .special, value: .bool(true), broken: "aBcdefg1", kept: "aBcdefg1 ", number: 12),
        Row(rule: .minUnique, value: .integer(5), broken: "aB1!aB1!", kept: "aB1!aB1!c", number: 15),
    ]

    private func fault(_ passcode: String, _ policy: PasscodePolicy) -> Int? {
        do throws(PasscodeFault) {
            try policy.check(Passcode(SecretBytes(utf8: passcode)))
            return nil
        } catch {
            return error.rawValue
        }
    }

    private func policy(_ rules: (PasscodePolicy.Rule, JSON)...) throws -> PasscodePolicy {
        try PasscodePolicy(.object(Dictionary(uniqueKeysWithValues: rules.map { ($0.0.rawValue, $0.1) })))
    }

    @Test("a passcode policy has the defaults of SMP A4, and a passcode of eight equal letters keeps them (SMP 30)")
    func defaults() {
        let policy = PasscodePolicy()
        #expect(
            policy.json
                == .object([
                    "enabled": .bool(true), "expiration_days": .integer(0), "digits": .bool(false),
                    "lower": .bool(false), "upper": .bool(false), "special": .bool(false),
                    "default_allowed": .bool(true), "default_on": .bool(false), "lock_timeout": .integer(0),
                    "min_length": .integer(8), "min_unique": .integer(0), "retry_limit": .integer(0),
                ]))
        #expect(fault("aaaaaaaa", policy) == nil)
        #expect(fault("aaaaaaa", policy) == 14)
        #expect(fault("", policy) == 9)
    }

    @Test("breaks each rule alone with its own number, and not at all without the rule (SMP 30)", arguments: rows)
    func alone(row: Row) throws {
        let policy = try policy((row.rule, row.value))
        #expect(fault(row.broken, policy) == row.number)
        #expect(fault(row.kept, policy) == nil)
        #expect(fault(row.broken, PasscodePolicy()) == nil)
        #expect(fault("", policy) == 9)
        var disabled = policy
        disabled.isEnabled = false
        #expect(fault(row.broken, disabled) == nil)
    }

    /// A passcode that breaks exactly two rules, by their places in ``rows``.
    private static func breaking(_ first: Int, _ second: Int) -> String {
        // Of each rule, what keeps it; 12 characters keep the length.
        let parts = ["", "1", "a", "B", "!", ""]
        let kept = parts.enumerated().filter { $0.offset != first && $0.offset != second }.map(\.element).joined()
        let isLong = first != 0
        guard second != 5 else { return String(repeating: kept, count: isLong ? 12 / kept.count : 2) }
        // Different characters that no other rule asks for: letters of a script without cases.
        return kept + (isLong ? "字体文本漢語仮名交文" : "字体文")
    }

    @Test("names the first of two broken rules, in the order of SMP A4 (SMP 30)")
    func pairs() throws {
        var all = try policy()
        for row in Self.rows { try all.merge(row.rule, row.value) }
        for first in Self.rows.indices {
            for second in Self.rows.indices where second > first {
                let passcode = Self.breaking(first, second)
                let broken = try Self.rows.indices.filter {
                    var rules = try policy((.minLength, .integer(0)))
                    try rules.merge(Self.rows[$0].rule, Self.rows[$0].value)
                    return fault(passcode, rules) != nil
                }
                #expect(broken == [first, second], "\(passcode)")
                #expect(fault(passcode, all) == Self.rows[first].number, "\(passcode)")
            }
        }
    }

    @Test("a passcode policy counts characters as people see them, whatever their bytes")
    func graphemes() throws {
        let eight = try policy((.minLength, .integer(8)))
        #expect(fault("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", eight) == 14)
        #expect(fault("e\u{301}e\u{301}e\u{301}e\u{301}", eight) == 14)
        let two = try policy((.minLength, .integer(1)), (.minUnique, .integer(2)))
        #expect(fault("e\u{301}\u{e9}", two) == 15, "both are é")
        #expect(fault("ee\u{301}", two) == nil)
    }

    @Test("a passcode policy takes digits and letters of every script, and nothing else for one")
    func scripts() throws {
        let one = (PasscodePolicy.Rule.minLength, JSON.integer(1))
        let digit = try policy(one, (.digits, .bool(true)))
        for text in ["٣", "५", "7\u{20e3}"] { #expect(fault(text, digit) == nil, "\(text)") }
        for text in ["²", "Ⅷ", "½", "三"] { #expect(fault(text, digit) == 10, "\(text)") }
        let special = try policy(one, (.special, .bool(true)))
        for text in ["²", "Ⅷ", " ", "🔑", "\u{301}", "\u{200d}", "\n"] {
            #expect(fault(text, special) == nil, "\(text)")
        }
        for text in ["٣", "字", "ß", "ǅ", "e\u{301}"] { #expect(fault(text, special) == 12, "\(text)") }
        #expect(fault("ω", try policy(one, (.lower, .bool(true)))) == nil)
        #expect(fault("Ω", try policy(one, (.lower, .bool(true)))) == 11)
        #expect(fault("Ω", try policy(one, (.upper, .bool(true)))) == nil)
        #expect(fault("ǅ", try policy(one, (.upper, .bool(true)))) == 13)
    }

    @Test("a passcode policy gives one secret for every way to write the same characters")
    func normalForm() throws {
        let ways = ["\u{c5}\u{fb01}", "A\u{30a}\u{fb01}", "\u{212b}\u{fb01}"]
        let secrets = try ways.map { try Passcode(SecretBytes(utf8: $0)).secret }
        #expect(secrets.allSatisfy { $0 == SecretBytes([0xc3, 0x85, 0xef, 0xac, 0x81]) })
        #expect(try Passcode(SecretBytes(utf8: "a")).secret == SecretBytes(utf8: "a"))
    }

    @Test(
        "a passcode policy refuses what cannot be a passcode before it is judged (SMP 31)",
        arguments: [
            [UInt8](repeating: 0x61, count: 257), [0x61, 0], [0], [0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80],
            [0xf4, 0x90, 0x80, 0x80],
        ] as [[UInt8]])
    func impossible(bytes: [UInt8]) {
        #expect(throws: PasscodeFault.argument) { try Passcode(SecretBytes(bytes)) }
    }

    @Test("a passcode policy takes 256 bytes, and as many marks on one letter")
    func longest() throws {
        #expect(fault(String(repeating: "a", count: 256), PasscodePolicy()) == nil)
        #expect(fault("a" + String(repeating: "\u{323}", count: 127), PasscodePolicy()) == 14)
        #expect(PasscodeFault.allCases.map(\.rawValue) == [4] + Array(9...15))
    }

    @Test(
        "a passcode policy takes the rules of a server by its names, and its defaults where they are missing (SMP 30)")
    func server() throws {
        let live: [String: JSON] = [
            "PasswordPolicyEnabled": .bool(true), "PasswordPolicyMinLength": .integer(6),
            "PasswordPolicyLockTimeout": .integer(300), "PasswordPolicyRetryLimit": .integer(10),
            "PasswordPolicyExpiresInNDays": .integer(90), "PasswordPolicyDigitRequired": .bool(true),
            "PasswordPolicyLowerRequired": .bool(true), "PasswordPolicyUpperRequired": .bool(true),
            "PasswordPolicySpecialRequired": .bool(true), "PasswordPolicyDefaultPasswordAllowed": .bool(false),
            "PasswordPolicyMinUniqueChars": .integer(4), "PasswordPolicyFingerprintEnabled": .bool(true),
        ]
        var expected = PasscodePolicy()
        (expected.minLength, expected.lockTimeoutSeconds, expected.retryLimit) = (6, 300, 10)
        (expected.expirationDays, expected.minUniqueCharacters, expected.isDefaultAllowed) = (90, 4, false)
        (expected.needsDigit, expected.needsLowerCase) = (true, true)
        (expected.needsUpperCase, expected.needsSpecial) = (true, true)
        #expect(try PasscodePolicy(server: .object(live)) == expected)
        #expect(try PasscodePolicy(server: .object(["PasswordPolicyMinLength": .null])) == PasscodePolicy())
        #expect(try PasscodePolicy(expected.json) == expected)
    }

    @Test(
        "a passcode policy refuses rules of another type, out of range or of no known name",
        arguments: [
            .array([]), .object(["minLength": .integer(8)]), .object(["digits": .integer(1)]),
            .object(["min_length": .bool(true)]), .object(["min_length": .integer(-1)]),
            .object(["min_length": .integer(257)]), .object(["retry_limit": .integer(.max)]),
            .object(["retry_limit": .number(1.5)]), .object(["lock_timeout": .integer(31_622_401)]),
            .object(["expiration_days": .string("1")]), .object(["enabled": .null]),
        ] as [JSON])
    func strict(json: JSON) {
        #expect(throws: PasscodeFault.argument) { try PasscodePolicy(json) }
    }

    @Test(
        "a passcode policy refuses values of a server that no rule can have",
        arguments: [
            .null, .object(["PasswordPolicyMinLength": .string("8")]),
            .object(["PasswordPolicyRetryLimit": .integer(-1)]), .object(["PasswordPolicyEnabled": .integer(1)]),
        ] as [JSON])
    func strictServer(json: JSON) {
        #expect(throws: PasscodeFault.argument) { try PasscodePolicy(server: json) }
    }
}

extension PasscodePolicy {
    /// Sets a rule beside the others.
    fileprivate mutating func merge(_ rule: Rule, _ value: JSON) throws {
        var members = json.object ?? [:]
        members[rule.rawValue] = value
        self = try PasscodePolicy(.object(members))
    }
}
