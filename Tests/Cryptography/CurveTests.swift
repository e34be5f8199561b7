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

    @Test("points of BN254CX are a group of prime order, as OpenSSL checks (MPIN 2.1, MPIN checklist 1)")
    func parameters() throws {
        #expect(EC_GROUP_check(group.handle, nil) == 1)
        #expect(EC_GROUP_get_degree(group.handle) == 254)
        #expect(BN_is_one(EC_GROUP_get0_cofactor(group.handle)) == 1)
        // The order itself has to be taken unreduced: as a G1Scalar it is zero.
        let end = try group.newPoint()
        defer { EC_POINT_clear_free(end) }
        try group.read(generator.encoding, into: end)
        try group.multiply(end, by: CurveNumber(hex: Self.order), into: end, in: CurveScratch())
        #expect(EC_POINT_is_at_infinity(group.handle, end) == 1)
    }

    @Test("BN254CX passes its self-test, which fails when one digit of the result differs (MPIN checklist 1)")
    func selfTest() throws {
        try CurveSelfTest.run(in: group)
        let other = String(CurveSelfTest.validator.dropLast()) + "f"
        #expect(throws: CurveError.unavailable(reason: "OpenSSL computes wrongly with it")) {
            try CurveSelfTest.run(in: group, expecting: other)
        }
    }

    @Test("points of BN254CX add, double, and give infinity away as an error")
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

    @Test("points of BN254CX take scalars modulo the order, whatever their length")
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

    @Test("points of BN254CX give back the encoding that they were read from, and a secret one does the same")
    func encoding() throws {
        let point = try generator.multiplied(by: .random())
        try expect(G1Point(encoding: point.encoding), point)
        #expect(point.secretEncoding == SecretBytes(point.encoding))
        #expect(point != generator)
    }

    @Test("hashes become the points that OpenSSL finds for an X and an even Y, never earlier ones (MPIN 2.4)")
    func map() throws {
        let prime = CurveNumber(hex: CurveGroup.prime)
        let point = try group.newPoint()
        defer { EC_POINT_clear_free(point) }
        // Near the prime too, where X begins again at 0.
        let last = Self.bytes(CurveGroup.prime)
        let hashes = try (0..<100).map { _ in try Random.bytes(32) }
        for hash in hashes + [last, last.dropLast() + [0xB2], .init(repeating: 0, count: 32)] {
            let x = CurveNumber(hash)
            let context = try #require(BN_CTX_new())
            defer { BN_CTX_free(context) }
            #expect(BN_nnmod(x.handle, x.handle, prime.handle, context) == 1)
            while EC_POINT_set_compressed_coordinates(group.handle, point, x.handle, 0, context) != 1 {
                ERR_clear_error()
                #expect(BN_add_word(x.handle, 1) == 1 && BN_nnmod(x.handle, x.handle, prime.handle, context) == 1)
            }
            let expected = try G1Point(in: group) { copy in #expect(EC_POINT_copy(copy, point) == 1) }
            #expect(try G1Point(mapping: hash) == expected, "\(Hex.encode(hash))")
        }
    }

    @Test("points of BN254CX show nothing of themselves")
    func shown() throws {
        let point = try generator.multiplied(by: G1Scalar(9442))
        let digits = Hex.encode(point.encoding.dropFirst())
        var shown = "\(point) \(String(reflecting: point)) \(G1Scalar(9442)) \(G1Factor(9442))"
        dump(point, to: &shown)
        dump(G1Scalar(9442), to: &shown)
        dump(G1Factor(9442), to: &shown)
        #expect(!shown.contains(digits.prefix(8)) && !shown.contains("9442"))
    }

    @Test("points of BN254CX are computed by several tasks at once")
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

    @Test("points of BN254CX are gone from memory with their last reference (MPIN checklist 15)")
    func wiped() throws {
        let coordinate = try useAndRelease()
        #expect(try !coordinate.isInMemory())
    }
}

@Suite("Multiples by a short ladder")
struct ShortLadderTests {
    private let base: G1Point
    private let start: G1Point

    init() throws {
        base = try G1Point(mapping: SHA256.hash(Array("base".utf8)))
        start = try G1Point(mapping: SHA256.hash(Array("start".utf8)))
    }

    @Test("multiples by a short ladder equal plain sums for factors all over the range of a PIN's")
    func range() throws {
        var sum = start
        let stride = UInt16(17)
        let next = try base.multiplied(by: G1Scalar(stride))
        for factor in Swift.stride(from: UInt16(0), through: 16_383, by: Int(stride)) {
            let product = try start.adding(G1Factor(factor), times: base)
            guard product == sum else {
                Issue.record("the factor \(factor)")
                return
            }
            sum = try sum.adding(next)
        }
    }

    @Test("multiples by a short ladder equal the long one's where bits change, up to the greatest factor")
    func edges() throws {
        let bits = (0..<G1Factor.bits).map { UInt16(1) << $0 }
        for factor in bits + bits.map({ $0 - 1 }) + bits.map({ 16_383 - $0 }) + [16_383, 9999, 10_000] {
            let short = try start.adding(G1Factor(factor), times: base)
            let long = try start.adding(G1Scalar(factor), times: base)
            #expect(short == long, "the factor \(factor)")
        }
    }

    @Test("multiples by a short ladder refuse longer factors, whose time would differ or result be wrong")
    func tooLong() async { await #expect(processExitsWith: .failure) { _ = G1Factor(16_384) } }

    @Test("multiples by a short ladder end at infinity as an error, and pass it within a sum")
    func infinity() throws {
        let opposite = try base.multiplied(by: G1Scalar(9442)).negated()
        #expect(throws: CurveError.infinity) { try opposite.adding(G1Factor(9442), times: base) }
        // The start cancels what is subtracted.
        let excess = try base.multiplied(by: G1Scalar(0x8000))
        let (short, long) = (try excess.adding(G1Factor(5), times: base), try excess.adding(G1Scalar(5), times: base))
        #expect(short == long)
    }
}

extension G1Scalar {
    fileprivate convenience init(_ value: UInt16) { self.init(reducing: [UInt8(value >> 8), UInt8(value & 0xFF)]) }
}
