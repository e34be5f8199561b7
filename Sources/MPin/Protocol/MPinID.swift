import Cryptography
import Groundwork

/// The identity that a relying-party service issued: a small JSON text, whose exact bytes count (MPIN 1, 5.5).
///
/// Hashes are made of the bytes as they came. The JSON is read for the user's name only, and never written again.
public struct MPinID: Sendable, Hashable {
    /// The maximum length, in bytes.
    public static let limit = 2048

    public let bytes: [UInt8]

    /// - Returns: `nil` for no bytes or more than ``limit``.
    public init?(bytes: [UInt8]) {
        guard (1...Self.limit).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// - Parameter hex: hexadecimal in either case.
    /// - Returns: `nil` for other characters, no bytes, or more than ``limit``.
    public init?(hex: String) {
        guard hex.utf8.count <= 2 * Self.limit, let bytes = Hex.decode(hex) else { return nil }
        self.init(bytes: bytes)
    }

    /// As written in requests and on disk.
    public var hex: String { Hex.encode(bytes) }

    /// The identity hash h, 32 bytes; in hexadecimal it is `hash_mpin_id` and `storageId` of the D-TA requests.
    public var hash: [UInt8] { MPinHash.hash(bytes) }

    /// The member `userID` of the JSON text, which may be empty.
    /// - Returns: `nil` if the bytes are not a JSON object with such a text.
    public var userID: String? { (try? JSON(parsing: bytes, limit: Self.limit))?["userID"]?.string }

    /// The identity point A.
    func point(in scratch: borrowing CurveScratch = CurveScratch()) throws(CurveError) -> G1Point {
        try G1Point(mapping: hash, in: scratch)
    }

    /// The dated point T.
    func point(
        on date: MPinDate, in scratch: borrowing CurveScratch = CurveScratch()
    ) throws(CurveError) -> G1Point {
        try G1Point(mapping: MPinHash.hash(hash, after: date.days), in: scratch)
    }
}
