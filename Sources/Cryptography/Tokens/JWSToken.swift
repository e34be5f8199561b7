import Groundwork

extension JWS {
    /// A token that has been read but not yet verified: do not trust its payload before ``verify(with:)``.
    public struct Token: Sendable {
        public let algorithm: Algorithm
        /// The header's `kid`.
        public let keyID: String?
        public let header: JSON
        public let payload: [UInt8]
        private let message: [UInt8]
        private let signature: [UInt8]

        /// Reads a compact token, strictly: three segments of base 64 for URLs without padding, a header that is an
        /// object of distinct names, a supported algorithm, and no `crit`, because no extension is supported (RFC 7515
        /// sections 4, 4.1.11 and 5.2).
        /// - Throws: ``CryptographyError/malformed(_:reason:)``, ``CryptographyError/tooLong(_:count:limit:)``,
        ///   ``CryptographyError/algorithmRefused(_:)``
        public init(compact: String) throws(CryptographyError) {
            guard compact.utf8.count <= JWS.limit else {
                throw .tooLong(.token, count: compact.utf8.count, limit: JWS.limit)
            }
            let segments = compact.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            guard segments.count == 3 else {
                throw .malformed(.token, reason: "it has \(segments.count) segments, not 3")
            }
            var parts: [[UInt8]] = []
            for segment in segments {
                guard !segment.contains(UInt8(ascii: "=")),
                    let part = Base64.decode(String(decoding: segment, as: UTF8.self), alphabet: .urlSafe)
                else { throw .malformed(.token, reason: "segment \(parts.count + 1) is not base64url without padding") }
                parts.append(part)
            }
            let header = try Self.header(parts[0])
            guard header["crit"] == nil else { throw .malformed(.token, reason: "it demands an extension (crit)") }
            guard let name = header["alg"]?.string else { throw .malformed(.token, reason: "it names no algorithm") }
            guard let algorithm = Algorithm(rawValue: name) else {
                // Do not repeat a stranger's text at length.
                throw .algorithmRefused(String(name.prefix(16).filter { $0.isASCII && $0.isLetter || $0.isNumber }))
            }
            let keyID = header["kid"]
            guard keyID == nil || keyID?.string != nil else {
                throw .malformed(.token, reason: "its kid is not a string")
            }
            self.algorithm = algorithm
            self.keyID = keyID?.string
            self.header = header
            payload = parts[1]
            signature = parts[2]
            message = Array(compact.utf8.prefix(segments[0].count + 1 + segments[1].count))
        }

        /// Verifies the signature. The kind of the key determines the kind of the algorithm, whatever the token's
        /// header says: a secret accepts only HS256, a P-256 key only ES256, an RSA key only those of RSA.
        /// - Throws: ``CryptographyError/algorithmRefused(_:)``, ``CryptographyError/signatureInvalid(_:)``
        public func verify(with key: VerificationKey) throws(CryptographyError) {
            let isValid: Bool
            switch (algorithm, key) {
            case (.HS256, .hmac(let secret)) where secret.count > 0:
                isValid = equalInConstantTime(HMAC.sha256(key: secret, message), signature)
            case (_, .key(let key)):
                guard let scheme = SignatureScheme(algorithm, of: key) else {
                    throw .algorithmRefused(algorithm.rawValue)
                }
                isValid = try key.verifies(signature, of: message, by: scheme)
            default: throw .algorithmRefused(algorithm.rawValue)
            }
            guard isValid else { throw .signatureInvalid(.token) }
        }

        private static func header(_ bytes: [UInt8]) throws(CryptographyError) -> JSON {
            guard let header = try? JSON(parsing: bytes, limit: JWS.limit), header.object != nil else {
                throw .malformed(.token, reason: "its header is not a JSON object")
            }
            guard let names = MemberNames.read(bytes), Set(names).count == names.count else {
                throw .malformed(.token, reason: "its header repeats a name or writes one with escapes")
            }
            return header
        }
    }
}

/// Reads the member names of an object as written, because a JSON parser that keeps one of two equal names does not
/// report duplicates.
enum MemberNames {
    /// - Parameter bytes: an object that a JSON parser has accepted.
    /// - Returns: `nil` if a name has an escape, because it could equal a name that is written differently.
    static func read(_ bytes: [UInt8]) -> [[UInt8]]? {
        var names: [[UInt8]] = []
        var depth = 0
        var string: [UInt8] = []
        var isInside = false
        var isEscaped = false
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\"") where !isEscaped:
                isInside.toggle()
                if isInside { string.removeAll(keepingCapacity: true) }
            case _ where isInside:
                string.append(byte)
                isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ":") where depth == 1:
                guard !string.contains(UInt8(ascii: "\\")) else { return nil }
                names.append(string)
            default: break
            }
        }
        return names
    }
}
