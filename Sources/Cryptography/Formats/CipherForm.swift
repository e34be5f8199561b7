/// A block cipher with its mode and padding, by the names of Oracle's mobile SDK (OAMMS B18).
public struct CipherForm: Sendable, Equatable {
    public enum Algorithm: String, Sendable, CaseIterable {
        case aes = "AES"
        /// Only to read what is there, as ``tripleDES``.
        case des = "DES"
        case tripleDES = "3DES"

        /// In bytes.
        public var keySizes: [Int] {
            switch self {
            case .aes: [16, 24, 32]
            case .des: [8]
            case .tripleDES: [24]
            }
        }

        /// In bytes.
        public var blockSize: Int { self == .aes ? 16 : 8 }
        var isLegacy: Bool { self != .aes }
    }

    public enum Mode: String, Sendable, CaseIterable {
        case cbc = "CBC"
        /// Shows which blocks are equal.
        case ecb = "ECB"
    }

    public enum Padding: String, Sendable, CaseIterable {
        /// RFC 5652 section 6.3.
        case pkcs7 = "PKCS7"
        case none = "None"
    }

    public var algorithm: Algorithm
    public var mode: Mode
    public var padding: Padding

    public init(_ algorithm: Algorithm, mode: Mode = .cbc, padding: Padding = .pkcs7) {
        self.algorithm = algorithm
        self.mode = mode
        self.padding = padding
    }

    /// Parses the prefix of a text: `AES`, or all three as the SDK of Java writes them, `AES/CBC/PKCS5Padding`.
    ///
    /// - Parameter usual: mode and padding where the prefix has only the algorithm.
    /// - Throws: ``FormatError/unknownAlgorithm``, ``FormatError/unknownPadding``
    public init(prefix: String, usual: (mode: Mode, padding: Padding) = (.cbc, .pkcs7)) throws(FormatError) {
        let parts = prefix.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let name = parts.first, let algorithm = Algorithm(rawValue: name == "DESede" ? "3DES" : name) else {
            throw .unknownAlgorithm
        }
        self.init(algorithm, mode: usual.mode, padding: usual.padding)
        guard parts.count > 1 else { return }
        guard parts.count == 3, let mode = Mode(rawValue: parts[1]) else { throw .unknownPadding }
        self.mode = mode
        switch parts[2] {
        case "PKCS5Padding", "PKCS7Padding": padding = .pkcs7
        case "NoPadding": padding = .none
        default: throw .unknownPadding
        }
    }

    /// OpenSSL's name.
    func name(keySize: Int) -> String {
        switch algorithm {
        case .aes: "AES-\(8 * keySize)-\(mode.rawValue)"
        case .des: "DES-\(mode.rawValue)"
        case .tripleDES: "DES-EDE3-\(mode.rawValue)"
        }
    }
}
