import Groundwork

/// A private key whose bytes are elsewhere, such as in a TPM or on a token, and which signs there.
public protocol ForeignKey: Sendable {
    /// Called on the thread that needs the signature, such as the one of a TLS handshake; by several at once.
    ///
    /// - Returns: the signature: with RSA of as many bytes as the modulus, with ECDSA in DER (RFC 3279 section 2.2.3).
    ///   It is verified before a caller gets it.
    /// - Throws: any error; ``CryptographyError/foreignKey(_:)`` has its explanation.
    func sign(_ digest: UnsignedDigest) throws -> [UInt8]
}

/// What a ``ForeignKey`` signs, and how.
public struct UnsignedDigest: Sendable, Equatable {
    public enum Scheme: Sendable, Equatable {
        /// RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2): of the digest, a DigestInfo is made first.
        case pkcs1
        /// RSASSA-PSS (RFC 8017 section 8.1) with the mask generation function of the same hash. The salt has exactly
        /// so many bytes.
        case pss(saltBytes: Int)
        /// The curve is the key's.
        case ecdsa
    }

    public let scheme: Scheme
    /// The hash that ``bytes`` were made with.
    public let hash: Digest
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8], by hash: Digest, _ scheme: Scheme) {
        self.bytes = bytes
        self.hash = hash
        self.scheme = scheme
    }
}

extension PrivateKey {
    /// Runs `body`, which signs with this key: on ``NamedThread/keys`` if the bytes of the key are elsewhere, because
    /// that place can take seconds, too long for the cooperative pool.
    public func signing<Result: Sendable, Failure: Error>(
        _ body: @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        foreign == nil ? try body() : try await KeyThread.shared.run(body)
    }

    /// The same key with a record of failures of its own; or this one, if its bytes are here.
    func recordingAlone() throws(CryptographyError) -> PrivateKey {
        guard let foreign else { return self }
        return try PrivateKey(foreign: foreign.key, publicKey: publicKey)
    }

    /// Why a signature failed: what the place that has the key says, else OpenSSL's newest reason.
    func signingError(_ operation: String) -> CryptographyError {
        let reason = openSSLError(operation)
        return foreign?.failure ?? reason
    }
}

/// Runs what may wait for a key that is elsewhere.
private actor KeyThread {
    static let shared = KeyThread()
    nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.keys.asUnownedSerialExecutor() }

    func run<Result, Failure: Error>(_ body: @Sendable () throws(Failure) -> Result) throws(Failure) -> Result {
        try body()
    }
}
