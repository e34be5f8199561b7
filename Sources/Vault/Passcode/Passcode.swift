import Cryptography

/// A passcode as a person enters it, in Unicode's normal form C, so that it does not matter how a keyboard composes its
/// characters.
struct Passcode: Sendable {
    /// The maximum length of what is entered, in bytes.
    static let byteLimit = 256

    /// The UTF-8 of the normal form, from which the key is derived.
    let secret: SecretBytes

    var isEmpty: Bool { secret.count == 0 }

    /// - Throws: ``PasscodeFault/argument`` for what cannot be a passcode.
    init(_ entered: SecretBytes) throws(PasscodeFault) {
        guard entered.count <= Self.byteLimit else { throw .argument }
        let text = entered.withUnsafeBytes { $0.contains(0) ? nil : String(validating: $0, as: UTF8.self) }
        guard let text else { throw .argument }
        // FoundationEssentials has no normal forms; the standard library has this one.
        var normal = text._nfcCodeUnits
        secret = SecretBytes(normal)
        wipe(&normal)
    }

    /// What a person sees as one character each: extended grapheme clusters (UAX 29). Only a string has them, and no
    /// string can be wiped.
    var characters: String { secret.exposedText() }
}

extension Character {
    /// The first scalar has the category; those after it only modify it. Composed letters are single scalars.
    private var category: Unicode.GeneralCategory? { unicodeScalars.first?.properties.generalCategory }

    /// A decimal digit of any script.
    var isPasscodeDigit: Bool { category == .decimalNumber }
    var isPasscodeLowerCase: Bool { category == .lowercaseLetter }
    var isPasscodeUpperCase: Bool { category == .uppercaseLetter }

    /// Whether it is neither a letter nor a digit of any script.
    var isPasscodeSpecial: Bool {
        switch category {
        case .lowercaseLetter, .uppercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber: false
        default: true
        }
    }
}
