import Cryptography
import Groundwork

@testable import MPin

extension FuzzTarget {
    static let mpin = [
        FuzzTarget(name: "curve-point") { bytes throws(Violation) in
            guard let point = try? G1Point(encoding: bytes) else { return .refused }
            try require(bytes.count == 65 && bytes[0] == 4, "a point has 65 bytes and begins with 04")
            try require(point.encoding == bytes, "a point is written as it was read")
            let negative = try? point.negated()
            try require(negative?.encoding[1...32] == bytes[1...32], "a point and its negative have one X")
            try require((try? point.adding(point)) != nil, "a point twice is never infinity in a group of odd order")
            return .accepted
        },
        FuzzTarget(name: "mpin-id") { bytes throws(Violation) in
            guard let identity = MPinID(hex: text(bytes)) else { return .refused }
            try require(bytes.count <= 2 * MPinID.limit, "an identity has at most \(MPinID.limit) bytes")
            try require(identity.hex == text(bytes).lowercased(), "an identity is written as it was read")
            try require(MPinID(bytes: identity.bytes) == identity, "its bytes are the identity")
            try require((identity.userID?.utf8.count ?? 0) <= MPinID.limit, "the user's name is a part of it")
            return .accepted
        },
        FuzzTarget(name: "mpin-hash") { bytes throws(Violation) in
            let hash = SHA256.hash(bytes)
            guard let point = try? G1Point(mapping: hash).encoding else { return .refused }
            try require(point[64].isMultiple(of: 2), "the point of a hash has an even Y")
            try require((try? G1Point(encoding: point)) != nil, "the point of a hash is a point")
            return .accepted
        },
    ]
}
