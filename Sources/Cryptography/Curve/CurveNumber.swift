import COpenSSL
import Groundwork

/// A `BIGNUM`, wiped with the last reference.
final class CurveNumber: Sendable {
    /// Valid while the number lives: a local one needs `withExtendedLifetime` around the calls that use it.
    ///
    /// `nonisolated(unsafe)` is correct because only the function that made the number changes it, before any other
    /// has it; then it is `const` to all that get it, and threads may share it (openssl-threads(7)).
    nonisolated(unsafe) let handle: OpaquePointer

    /// - Parameters:
    ///   - bytes: a non-negative integer, highest byte first.
    ///   - isSecret: whether OpenSSL shall take a time for it that does not depend on it, where it can.
    init(_ bytes: [UInt8], isSecret: Bool = true) {
        handle = Self.required(BN_bin2bn(bytes, Int32(bytes.count), nil))
        if isSecret { BN_set_flags(handle, BN_FLG_CONSTTIME) }
    }

    init(_ value: UInt64) {
        handle = Self.required(BN_new())
        guard BN_set_word(handle, UInt(value)) == 1 else { fatalError("no memory for a number") }
        BN_set_flags(handle, BN_FLG_CONSTTIME)
    }

    convenience init(hex: String, isSecret: Bool = true) { self.init(Hex.decode(hex) ?? [], isSecret: isSecret) }

    deinit { BN_clear_free(handle) }

    var isZero: Bool { BN_is_zero(handle) == 1 }

    private static func required(_ number: OpaquePointer?) -> OpaquePointer {
        guard let number else { fatalError("no memory for a number") }
        return number
    }
}
