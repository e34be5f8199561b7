import COpenSSL

/// An integer modulo the order of BN254CX's group, wiped with the last reference.
public final class G1Scalar: Sendable {
    /// The length of ``bytes``.
    public static let byteCount = 32

    /// In 0..<order.
    let number: CurveNumber

    private static let order = CurveNumber(hex: CurveGroup.order)

    private init(_ number: CurveNumber) { self.number = number }

    /// - Parameter bytes: a non-negative integer, highest byte first. The division takes a time that depends on it.
    public convenience init(reducing bytes: [UInt8]) {
        self.init(CurveNumber(bytes))
        Self.reduce(number)
    }

    /// A uniformly random integer from 1 to order − 1, from OpenSSL's generator for secrets.
    /// - Throws: ``CurveError`` when the system has no randomness to give.
    public static func random() throws(CurveError) -> G1Scalar {
        let number = CurveNumber(0)
        repeat {
            try checkCurve("make a random number", BN_priv_rand_range(number.handle, order.handle))
        } while number.isZero
        return G1Scalar(number)
    }

    public func adding(_ other: G1Scalar) -> G1Scalar {
        let sum = CurveNumber(0)
        // Both are below the order, so one subtraction at most is needed; it is done without a branch. Fails only
        // without memory.
        guard BN_mod_add_quick(sum.handle, number.handle, other.number.handle, Self.order.handle) == 1 else {
            fatalError("add numbers: \(takeOpenSSLReason())")
        }
        return G1Scalar(sum)
    }

    public var isZero: Bool { number.isZero }

    /// 32 bytes, highest first. The array is not wiped: for numbers that are public.
    public var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.byteCount)
        let count = BN_bn2binpad(number.handle, &bytes, Int32(Self.byteCount))
        precondition(count == Self.byteCount, "a scalar has \(Self.byteCount) bytes")
        return bytes
    }

    private static func reduce(_ number: CurveNumber) {
        // Both fail only without memory.
        guard let context = BN_CTX_new(), BN_nnmod(number.handle, number.handle, order.handle, context) == 1 else {
            fatalError("reduce a number: \(takeOpenSSLReason())")
        }
        BN_CTX_free(context)
    }
}
