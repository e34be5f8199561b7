import Cryptography
import Groundwork
import TestSupport
import Testing

@testable import MPin

/// A user whom both trust authorities know, with the authorities' secrets.
private struct FreshUser {
    let identity: MPinID
    let secret: G1Scalar
    let shares: (G1Point, G1Point)
    let permit: TimePermit
    let token: MPinToken

    init(pin: String) throws {
        identity = try #require(MPinID(bytes: Array(#"{"userID":"\#(Random.uuid())"}"#.utf8)))
        let (first, second) = (try G1Scalar.random(), try G1Scalar.random())
        secret = first.adding(second)
        let point = try identity.point()
        shares = (try point.multiplied(by: first), try point.multiplied(by: second))
        let date = try #require(MPinDate(days: 20_000))
        let dated = try identity.point(on: date)
        permit = try TimePermit(date: date, shares: dated.multiplied(by: first), dated.multiplied(by: second))
        token = try MPinToken(shares: shares.0, shares.1, of: identity, without: Self.factor(pin))
    }

    static func factor(_ pin: String) throws -> PINFactor { try PINFactor(secret: SecretBytes(utf8: pin)) }

    func passOne(_ pin: String, _ permit: TimePermit?) throws -> PassOne {
        try PassOne(identity: identity, token: token, factor: Self.factor(pin), permit: permit)
    }

    func accepts(_ validator: G1Point, for challenge: [UInt8], of commitment: G1Point, _ permit: TimePermit?) throws
        -> Bool
    {
        try ServerEquation(secret: secret, of: identity, on: permit?.date)
            .accepts(validator, for: challenge, of: commitment)
    }
}

@Suite("The two passes of M-Pin")
struct PassTests {
    @Test("the two passes prove the right PIN and no other, with or without permit (MPIN 4.2, MPIN checklist 14)")
    func equation() throws {
        let user = try FreshUser(pin: "0009")
        for permit in [user.permit, nil] {
            for (pin, isRight) in [("0009", true), ("1071", true), ("0008", false), ("9000", false)] {
                let passOne = try user.passOne(pin, permit)
                let commitment = passOne.datedCommitment ?? passOne.commitment
                #expect((passOne.datedCommitment == nil) == (permit == nil))
                let challenge = try Random.bytes(32)
                let validator = try passOne.validator(for: challenge)
                #expect(try user.accepts(validator, for: challenge, of: commitment, permit) == isRight, "\(pin)")
            }
            let proof = try user.passOne("0009", permit).proof(at: 1_700_000_000, of: Array("door 7".utf8))
            let commitment = proof.datedCommitment ?? proof.commitment
            #expect(try user.accepts(proof.validator, for: proof.challenge, of: commitment, permit))
            let later = MPinHash.hash(commitment.encoding + proof.message, after: proof.time + 1)
            #expect(try !user.accepts(proof.validator, for: later, of: commitment, permit))
        }
    }

    @Test("the first pass begins with another x each time (MPIN checklist 11)")
    func fresh() throws {
        let user = try FreshUser(pin: "1234")
        var seen: Set<[UInt8]> = []
        for _ in 0..<50 {
            let passOne = try user.passOne("1234", user.permit)
            seen.insert(passOne.commitment.encoding)
            seen.insert(passOne.datedCommitment?.encoding ?? [])
        }
        #expect(seen.count == 100)
        for _ in 0..<1000 { #expect(try !G1Scalar.random().isZero) }
    }

    @Test("the second pass takes any y of 256 bits, and fails where x + y is 0 (MPIN checklist 10)")
    func challenges() throws {
        let user = try FreshUser(pin: "1234")
        func validator(_ x: G1Scalar, _ challenge: [UInt8]) throws -> G1Point {
            try PassOne(
                identity: user.identity, token: user.token, factor: FreshUser.factor("1234"), permit: nil, x: x
            ).validator(for: challenge)
        }
        let order = try #require(Hex.decode(Self.order))
        let (zero, one) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 31) + [1])
        let last: [UInt8] = order.dropLast() + [0x6C]
        let x = try G1Scalar.random()
        // n and n + 1 are 0 and 1.
        let (atOrder, atZero) = (try validator(x, order), try validator(x, zero))
        #expect(atOrder == atZero)
        let (above, atOne) = (try validator(x, order.dropLast() + [0x6E]), try validator(x, one))
        #expect(above == atOne && above != atZero)
        let greatest = [UInt8](repeating: 0xFF, count: 32)
        let (unreduced, reduced) = (try validator(x, greatest), try validator(x, G1Scalar(reducing: greatest).bytes))
        #expect(unreduced == reduced)

        #expect(throws: CurveError.infinity) { try validator(G1Scalar(reducing: [1]), last) }
        #expect(throws: CurveError.infinity) { try validator(G1Scalar(reducing: last), one) }
        #expect(throws: CurveError.infinity) { try validator(G1Scalar(reducing: zero), zero) }
    }

    @Test("equal shares are doubled, and opposite ones of a secret or permit are an error (MPIN checklist 6)")
    func shares() throws {
        let user = try FreshUser(pin: "1234")
        let (share, factor) = (user.shares.0, try FreshUser.factor("1234"))
        let opposite = try share.negated()
        #expect(throws: CurveError.infinity) {
            try MPinToken(shares: share, opposite, of: user.identity, without: factor)
        }
        #expect(throws: CurveError.infinity) { try TimePermit(date: user.permit.date, shares: opposite, share) }
        let doubled = try MPinToken(shares: share, share, of: user.identity, without: factor)
        let restored = try doubled.restored(for: user.identity.point(), with: factor)
        let twice = try share.multiplied(by: G1Scalar(reducing: [2]))
        #expect(restored == twice)
    }

    @Test("a PIN's factor of 0 is used like any other, and a token taken to infinity is an error")
    func edges() throws {
        let pin = try #require(
            (0..<1_000_000).lazy.map(String.init).first { text in
                Array(text.utf8).withUnsafeBytes { PINFactor.factor(of: PINFactor.hash(of: $0)) } == 0
            })
        let user = try FreshUser(pin: pin)
        let secret = try user.shares.0.adding(user.shares.1)
        #expect(user.token.encoding == secret.secretEncoding)
        let passOne = try user.passOne(pin, nil)
        let restored = passOne.secret
        #expect(restored == secret)

        // A client secret of α·A leaves nothing.
        let factor = try FreshUser.factor("1234")
        let point = try user.identity.point()
        let first = try point.multiplied(by: G1Scalar(reducing: [0x24, 0xE1]))
        #expect(throws: CurveError.infinity) {
            try MPinToken(shares: first, point, of: user.identity, without: factor)
        }
    }

    enum Ending: CaseIterable { case success, failure, givenUp }

    @Test(
        "the two passes leave neither x nor x + y in memory, however they end (MPIN checklist 15)",
        arguments: Ending.allCases)
    func wiped(ending: Ending) throws {
        let user = try FreshUser(pin: "1234")
        let masked = try end(begin(user), ending)
        for number in masked { #expect(try !number.isInMemory()) }
    }

    private struct Begun: ~Copyable {
        let passOne: PassOne
        let x: MaskedSecret
        /// With y = 1.
        let sum: MaskedSecret
        /// With which x + y is 0.
        let opposite: [UInt8]
    }

    private func begin(_ user: FreshUser) throws -> Begun {
        // Lowest byte first, as OpenSSL has numbers in memory; below the order, and the sum without a carry.
        var bytes = try Random.bytes(32)
        (bytes[0], bytes[31]) = (0x10, 0x11)
        defer { wipe(&bytes) }
        let x = MaskedSecret(SecretBytes(bytes))
        let passOne = try PassOne(
            identity: user.identity, token: user.token, factor: FreshUser.factor("1234"), permit: user.permit,
            x: G1Scalar(reducing: bytes.reversed()))
        let opposite = try Self.difference(#require(Hex.decode(Self.order)), bytes.reversed())
        bytes[0] = 0x11
        return Begun(passOne: passOne, x: x, sum: MaskedSecret(SecretBytes(bytes)), opposite: opposite)
    }

    private func end(_ begun: consuming Begun, _ ending: Ending) throws -> [MaskedSecret] {
        let (masked, opposite) = ([begun.x, begun.sum], begun.opposite)
        #expect(try masked[0].isInMemory(), "the search finds what it is for")
        let passOne = begun.passOne
        switch ending {
        case .success: _ = try passOne.validator(for: [UInt8](repeating: 0, count: 31) + [1])
        case .failure:
            do {
                _ = try passOne.validator(for: opposite)
                Issue.record("x + y is 0")
            } catch { #expect(error == .infinity) }
        case .givenUp: break
        }
        return masked
    }

    private static let order = "2400000008702a0db0bddf647a6366d2c43fd6ee0cc906cebe11c0a636eb1f6d"

    /// Of numbers as wide, highest byte first.
    private static func difference(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var (result, borrow) = (left, 0)
        for index in left.indices.reversed() {
            let digit = Int(left[index]) - Int(right[index]) - borrow
            borrow = digit < 0 ? 1 : 0
            result[index] = UInt8(digit & 0xFF)
        }
        return result
    }
}
