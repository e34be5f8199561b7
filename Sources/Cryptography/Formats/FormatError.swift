import Groundwork

/// Why something in a format of Oracle's mobile SDK cannot be written or read (OAMMS B18).
public enum FormatError: Explained, Equatable, CaseIterable {
    case emptyText
    case saltLength
    case unknownAlgorithm
    case keySize
    case initializationVector
    case paddingRequired
    case unknownPadding
    /// Decryption failed; how is not said, as it would help those who guess.
    case undecryptable
    case saltBits
    case saltMissing
    case saltUnexpected
    case saltAppended
    case notPrefixed
    case tooLong
    /// What is weak is only read, and only where the caller says so.
    case legacyOnly
    /// OpenSSL's provider of old algorithms is not installed.
    case legacyMissing

    /// The number in the domain `ora-idm-mobile` (OAMMS B18); `nil` for what the SDK does not know.
    public var number: Int? { facts.number }

    public var explanation: Explanation {
        let (number, name, message, remedy) = facts
        let kind: ExplanationKind = self == .legacyMissing ? .unavailable : .invalidInput
        return Explanation(
            "format.\(name)", kind, message, remedy: remedy,
            meaning: number.map { "\(message) (number \($0) in the domain ora-idm-mobile)" })
    }

    private var facts: (number: Int?, name: String, message: String, remedy: String?) {
        switch self {
        case .emptyText: (10406, "empty-text", "the text is empty", nil)
        case .saltLength:
            (
                10505, "salt-length",
                "a salt has \(SaltedDigest.saltBits.lowerBound) to \(SaltedDigest.saltBits.upperBound) bits", nil
            )
        case .unknownAlgorithm: (10506, "unknown-algorithm", "the algorithm is not known", nil)
        case .keySize: (10507, "key-size", "the key does not have a size of the algorithm", nil)
        case .initializationVector:
            (
                10508, "initialization-vector",
                "the initialization vector does not have the size of a block, or the mode uses none", nil
            )
        case .paddingRequired:
            (10509, "padding-required", "without padding, the text must have a multiple of the block's size", nil)
        case .unknownPadding: (10510, "unknown-padding", "the mode or the padding is not known", nil)
        case .undecryptable:
            (10511, "undecryptable", "the text cannot be decrypted: it, the key or the vector is another one", nil)
        case .saltBits: (10512, "salt-bits", "the bits of a salt must be a multiple of 4", nil)
        case .saltMissing: (10513, "salt-missing", "the algorithm needs a salt", nil)
        case .saltUnexpected: (10514, "salt-unexpected", "the algorithm has no salt", nil)
        case .saltAppended: (10515, "salt-appended", "no salt can be appended where the algorithm has none", nil)
        case .notPrefixed:
            (
                10516, "not-prefixed", "the text is not the name of an algorithm in braces and canonical base64",
                nil
            )
        case .tooLong: (10519, "too-long", "the text is longer than allowed", nil)
        case .legacyOnly:
            (nil, "legacy-only", "the algorithm or mode is weak", "it is only for old data: read that with legacy")
        case .legacyMissing:
            (
                nil, "legacy-missing", "OpenSSL's legacy provider, which has DES, cannot be loaded",
                "install the package openssl-provider-legacy (Debian 13) or libssl3 (Debian 12)"
            )
        }
    }

    public static var examples: [FormatError] { allCases }
}
