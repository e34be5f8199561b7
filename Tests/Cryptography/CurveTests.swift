import COpenSSL
import Groundwork
import TestSupport
import Testing

@testable import Cryptography

@Suite("Points of BN254CX")
struct CurveTests {
    private let group: CurveGroup
    private let generator: G1Point

    init() throws {
        group = try CurveGroup.shared.get()
        generator = try G1Point(encoding: [4] + Self.bytes(Self.generatorX) + Self.bytes(Self.one))
    }

    /// The prime less 1.
    private static let generatorX = "2400000008702a0db0bddf647a6366d3243fd6ee18093ee1be6623ef5c1b55b2"
    private static let one = String(repeating: "0", count: 63) + "1"
    private static let order = "2400000008702a0db0bddf647a6366d2c43fd6ee0cc906cebe11c0a636eb1f6d"

    private func expect(_ point: G1Point, _ expected: G1Point) { #expect(point == expected) }

    private static func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex)! }

    @Test("are a group of prime order without a cofactor, as OpenSSL checks (MPIN 2.1, MPIN checklist 1)")
    func parameters() throws {
        #expect(EC_GROUP_check(group.handle, nil) == 1)
        #expect(EC_GROUP_get_degree(group.handle) == 254)
        #expect(BN_is_one(EC_GROUP_get0_cofactor(group.handle)) == 1)
        // The order itself has to be taken unreduced: as a G1Scalar it is zero.
        let end = try group.newPoint()
        defer { EC_POINT_clear_free(end) }
        try group.read(generator.encoding, into: end)
        try group.multiply(end, by: CurveNumber(hex: Self.order), into: end)
        #expect(EC_POINT_is_at_infinity(group.handle, end) == 1)
    }

    @Test("pass the self-test, which fails when one digit of the result differs (MPIN checklist 1)")
    func selfTest() throws {
        try CurveSelfTest.run(in: group)
        let other = String(CurveSelfTest.validator.dropLast()) + "f"
        #expect(throws: CurveError.unavailable(reason: "OpenSSL computes wrongly with it")) {
            try CurveSelfTest.run(in: group, expecting: other)
        }
    }

    @Test("add, double, and give infinity away as an error")
    func sums() throws {
        let twice = try generator.adding(generator)
        try expect(twice, generator.multiplied(by: G1Scalar(2)))
        try expect(twice.adding(generator), generator.adding(twice))
        try expect(generator.adding(G1Scalar(2), times: generator), generator.multiplied(by: G1Scalar(3)))
        try expect(generator.adding(G1Scalar(0), times: twice), generator)
        #expect(throws: CurveError.infinity) { try generator.adding(generator.negated()) }
        #expect(throws: CurveError.infinity) { try generator.multiplied(by: G1Scalar(0)) }
        #expect(throws: CurveError.infinity) {
            try generator.adding(
                G1Scalar(reducing: Self.bytes(Self.order)).adding(G1Scalar(1)), times: generator.negated())
        }
    }

    @Test("take scalars modulo the order, whatever their length")
    func scalars() throws {
        #expect(G1Scalar(reducing: Self.bytes(Self.order)).isZero)
        #expect(G1Scalar(reducing: []).isZero)
        let last = G1Scalar(reducing: Self.bytes(String(Self.order.dropLast()) + "c"))
        try expect(generator.multiplied(by: last), generator.negated())
        #expect(last.adding(G1Scalar(1)).isZero)
        try expect(generator.multiplied(by: last.adding(G1Scalar(4))), generator.multiplied(by: G1Scalar(3)))
        let all = G1Scalar(reducing: [UInt8](repeating: 0xFF, count: 32))
        let high = G1Scalar(reducing: [0xFF] + [UInt8](repeating: 0, count: 31))
        let low = G1Scalar(reducing: [UInt8](repeating: 0xFF, count: 31))
        try expect(generator.multiplied(by: all), generator.multiplied(by: high.adding(low)))
    }

    @Test("give back the encoding that they were read from, and a secret one is the same")
    func encoding() throws {
        let point = try generator.multiplied(by: .random())
        try expect(G1Point(encoding: point.encoding), point)
        #expect(point.secretEncoding == SecretBytes(point.encoding))
        #expect(point != generator)
    }

    @Test("show nothing of themselves")
    func shown() throws {
        let point = try generator.multiplied(by: G1Scalar(9442))
        let digits = Hex.encode(point.encoding.dropFirst())
        var shown = "\(point) \(String(reflecting: point)) \(G1Scalar(9442))"
        dump(point, to: &shown)
        dump(G1Scalar(9442), to: &shown)
        #expect(!shown.contains(digits.prefix(8)) && !shown.contains("9442"))
    }

    @Test("are computed by several tasks at once")
    func concurrency() async throws {
        let hash = SHA256.hash(Array("latchkey".utf8))
        let expected = try G1Point(mapping: hash).multiplied(by: G1Scalar(77)).encoding
        try await withThrowingTaskGroup(of: [UInt8].self) { tasks in
            for _ in 0..<32 { tasks.addTask { try G1Point(mapping: hash).multiplied(by: G1Scalar(77)).encoding } }
            for try await result in tasks { #expect(result == expected) }
        }
    }

    /// A coordinate as it lies in memory: times 2^256 modulo the prime, lowest byte first.
    private func lasting(_ encoding: [UInt8]) throws -> MaskedSecret {
        let (x, prime) = (CurveNumber(Array(encoding[1...32])), CurveNumber(hex: CurveGroup.prime))
        let context = try #require(BN_CTX_new())
        defer { BN_CTX_free(context) }
        return withExtendedLifetime((x, prime)) {
            #expect(BN_mod_lshift(x.handle, x.handle, 256, prime.handle, context) == 1)
            var bytes = [UInt8](repeating: 0, count: 32)
            #expect(BN_bn2lebinpad(x.handle, &bytes, 32) == 32)
            defer { wipe(&bytes) }
            return MaskedSecret(SecretBytes(bytes))
        }
    }

    /// - Returns: a coordinate of a random point that is gone.
    private func useAndRelease() throws -> MaskedSecret {
        let point = try G1Point(encoding: generator.multiplied(by: .random()).encoding)
        let coordinate = try lasting(point.encoding)
        #expect(try coordinate.isInMemory(), "the search finds what it is for")
        _ = try point.adding(generator).multiplied(by: G1Scalar(5)).negated()
        withExtendedLifetime(point) {}
        return coordinate
    }

    @Test("are gone from memory with their last reference (MPIN checklist 15)")
    func wiped() throws {
        let coordinate = try useAndRelease()
        #expect(try !coordinate.isInMemory())
    }
}
