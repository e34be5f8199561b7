import COpenSSL

/// Bytes that must not stay in memory: wiped (`OPENSSL_cleanse`) with the last reference, compared in constant time,
/// never shown by `print` or a debugger's description.
///
/// The memory is ordinary heap. A locked arena (`CRYPTO_secure_malloc_init`) is not used: boards allow 64 KiB of locked
/// memory or none, while a sealed record may have more, and OpenSSL, libcurl and libmosquitto have copies that our
/// arena would not cover. Core dumps and reading by other processes are forbidden for the whole process instead
/// (`PR_SET_DUMPABLE` and `coredump_filter`, set by the daemon at its start), and those libraries' copies are wiped
/// when they are freed (`CRuntime`).
public final class SecretBytes: Sendable {
    /// `nonisolated(unsafe)` is correct because they are written only in `init` and freed only in `deinit`, and only
    /// read in between.
    private nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer

    public init(_ bytes: some Collection<UInt8>) {
        self.bytes = Self.allocate(bytes.count)
        self.bytes.copyBytes(from: bytes)
    }

    /// - Parameter text: its UTF-8 bytes are copied; the string itself cannot be wiped.
    public convenience init(utf8 text: String) { self.init(text.utf8) }

    /// Creates a secret in place, so that no other copy exists.
    /// - Parameter write: fills all bytes; if it throws, the memory is wiped and the error rethrown.
    init<Failure>(count: Int, _ write: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void) throws(Failure) {
        bytes = Self.allocate(count)
        // If it throws, `deinit` runs because the object is already initialized.
        try write(bytes)
    }

    deinit { latchkey_wipe_and_free(bytes.baseAddress, bytes.count) }

    /// - Throws: ``CryptographyError`` when the system has no randomness to give.
    public static func random(_ count: Int) throws(CryptographyError) -> SecretBytes {
        try SecretBytes(count: count) { bytes throws(CryptographyError) in
            try check("make random bytes", RAND_priv_bytes_ex(nil, bytes.baseAddress, bytes.count, 0))
        }
    }

    public var count: Int { bytes.count }

    /// The bytes are valid only inside `body`.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(bytes))
    }

    /// A copy, which the caller must wipe (``wipe(_:)``) or drop at once.
    public func exposed() -> [UInt8] { Array(bytes) }

    /// A copy as text, which cannot be wiped: only for interfaces that require a string.
    public func exposedText() -> String { String(decoding: bytes, as: UTF8.self) }

    private static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        // One extra byte, so that an empty secret also has an address.
        guard let memory = latchkey_allocate(count + 1) else { fatalError("no memory for a secret of \(count) bytes") }
        return UnsafeMutableRawBufferPointer(start: memory, count: count)
    }
}

extension SecretBytes: Equatable {
    /// Compares in a time that depends only on the lengths.
    public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left.bytes.baseAddress, right.bytes.baseAddress, left.count) == 0
    }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "secret of \(count) bytes" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Overwrites the bytes in a way that the compiler does not optimize away, and empties the array, which keeps its
/// storage. An array that shares its storage with another is copied first, so the other keeps its bytes.
public func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    bytes.removeAll(keepingCapacity: true)
}

/// Compares in a time that depends only on the lengths.
public func equalInConstantTime(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
    let (left, right) = (Array(left), Array(right))
    return left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
}
