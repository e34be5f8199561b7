import Cryptography
import Groundwork
import Testing

@testable import MPin

@Suite("Known computations of M-Pin")
struct VectorTests {
    /// What a vector has as its input, read by the code under test.
    private struct Case {
        let entry: VectorFiles.Entry
        let identity: MPinID
        let factor: PINFactor
        let wrongFactor: PINFactor
        let shares: (G1Point, G1Point)
        /// `nil` for date 0.
        let permit: TimePermit?

        init(_ entry: VectorFiles.Entry) throws {
            self.entry = entry
            identity = try #require(entry.text("input", "mpin_id_hex").flatMap(MPinID.init(hex:)))
            factor = try PINFactor(secret: SecretBytes(utf8: #require(entry.text("input", "pin"))))
            wrongFactor = try PINFactor(secret: SecretBytes(utf8: #require(entry.text("input", "wrong_pin"))))
            shares = (try Self.point(entry, "client_secret_share1"), try Self.point(entry, "client_secret_share2"))
            let days = try #require(entry.number("input", "date"))
            permit = try MPinDate(days: days).map { date in
                try TimePermit(
                    date: date, shares: Self.point(entry, "time_permit_share1"),
                    Self.point(entry, "time_permit_share2"))
            }
            #expect((permit == nil) == (days == 0))
        }

        static func point(_ entry: VectorFiles.Entry, _ name: String) throws -> G1Point {
            try G1Point(encoding: #require(entry.bytes("expect", name), "\(name)"))
        }

        func expected(_ name: String) throws -> String { try #require(entry.text("expect", name), "\(name)") }

        var token: MPinToken {
            get throws { try MPinToken(shares: shares.0, shares.1, of: identity, without: factor) }
        }

        /// The first pass with the vector's x.
        func passOne(with factor: PINFactor) throws -> PassOne {
            let x = G1Scalar(reducing: try #require(entry.bytes("input", "x")))
            return try PassOne(identity: identity, token: token, factor: factor, permit: permit, x: x)
        }

        /// The one-pass form with the vector's x.
        var proof: OnePass {
            get throws {
                let time = try #require(entry.number("input", "one_pass_time").flatMap(Int32.init(exactly:)))
                let message = entry.bytes("input", "one_pass_message_hex") ?? []
                // What the code under test must not be given.
                try #require((0..<Int32.max).contains(time) && message.count <= OnePass.messageLimit)
                return try passOne(with: factor).proof(at: time, of: message)
            }
        }

        var challenge: [UInt8] { get throws { try #require(entry.bytes("input", "y")) } }
    }

    @Test(
        "the identity's hash and point, and those of the date (MPIN 2.3, 2.4, MPIN checklist 2)",
        arguments: VectorFiles.authentications)
    func identity(entry: VectorFiles.Entry) throws {
        let vector = try Case(entry)
        #expect(Hex.encode(vector.identity.hash) == (try vector.expected("id_hash")))
        #expect(Hex.encode(try vector.identity.point().encoding) == (try vector.expected("id_point")))
        guard let date = vector.permit?.date else { return }
        let dated = MPinHash.hash(vector.identity.hash, after: date.days)
        #expect(Hex.encode(dated) == (try vector.expected("time_hash")))
        #expect(Hex.encode(try vector.identity.point(on: date).encoding) == (try vector.expected("time_point")))
    }

    @Test(
        "the secret as the sum of its shares in either order, and the token (MPIN 2.7, MPIN checklist 6, 7)",
        arguments: VectorFiles.authentications)
    func token(entry: VectorFiles.Entry) throws {
        let vector = try Case(entry)
        let (first, second) = vector.shares
        #expect(Hex.encode(try first.adding(second).encoding) == (try vector.expected("client_secret")))
        let token = try vector.token
        #expect(Hex.encode(token.encoding.exposed()) == (try vector.expected("token")))
        let swapped = try MPinToken(shares: second, first, of: vector.identity, without: vector.factor)
        #expect(swapped.encoding == token.encoding)
        #expect(try MPinToken(encoding: token.encoding).encoding == token.encoding)
        let restored = try token.restored(for: vector.identity.point(), with: vector.factor)
        #expect(Hex.encode(restored.encoding) == (try vector.expected("client_secret")))
    }

    @Test(
        "U, UT and V of the right PIN and V of a wrong one (MPIN 2.8, MPIN checklist 8, 9)",
        arguments: VectorFiles.authentications)
    func twoPasses(entry: VectorFiles.Entry) throws {
        let vector = try Case(entry)
        if let permit = vector.permit {
            #expect(Hex.encode(permit.point.encoding) == (try vector.expected("time_permit")))
        }
        let right = try vector.passOne(with: vector.factor)
        #expect(Hex.encode(right.commitment.encoding) == (try vector.expected("U")))
        let dated = right.datedCommitment.map { Hex.encode($0.encoding) } ?? ""
        #expect(dated == (try vector.expected("UT")))
        #expect(Hex.encode(right.secret.encoding) == (try vector.expected("S")))
        #expect(Hex.encode(try right.validator(for: vector.challenge).encoding) == (try vector.expected("V")))

        let wrong = try vector.passOne(with: vector.wrongFactor)
        let validator = try wrong.validator(for: vector.challenge)
        #expect(Hex.encode(validator.encoding) == (try vector.expected("wrong_pin_V")))
    }

    @Test(
        "y and V of the one-pass form, with and without a message and a permit (MPIN 2.9, MPIN checklist 13)",
        arguments: VectorFiles.authentications)
    func onePass(entry: VectorFiles.Entry) throws {
        let vector = try Case(entry)
        let proof = try vector.proof
        #expect(Hex.encode(proof.challenge) == (try vector.expected("one_pass_y")))
        #expect(Hex.encode(proof.validator.encoding) == (try vector.expected("one_pass_V")))
        #expect(Hex.encode(proof.commitment.encoding) == (try vector.expected("U")))
        #expect(proof.datedCommitment.map { Hex.encode($0.encoding) } ?? "" == (try vector.expected("UT")))
    }

    @Test(
        "shares by the master secrets, and the server's verdict on right and wrong PINs and times (MPIN checklist 14)",
        arguments: VectorFiles.authentications)
    func server(entry: VectorFiles.Entry) throws {
        let vector = try Case(entry)
        let secrets = ["master_secret1", "master_secret2"].compactMap { entry.bytes("input", $0) }
            .map { G1Scalar(reducing: $0) }
        // Nothing of the server can be known without them.
        guard secrets.count == 2 else { return }
        func shares(of point: G1Point, _ name: String) throws {
            for (number, secret) in secrets.enumerated() {
                let share = try point.multiplied(by: secret)
                #expect(Hex.encode(share.encoding) == (try vector.expected("\(name)_share\(number + 1)")))
            }
        }
        try shares(of: vector.identity.point(), "client_secret")
        let date = vector.permit?.date
        if let date { try shares(of: vector.identity.point(on: date), "time_permit") }
        let server = try ServerEquation(secret: secrets[0].adding(secrets[1]), of: vector.identity, on: date)
        let sum = date == nil ? "" : Hex.encode(server.base.encoding)
        #expect(entry.text("server", "sum_id_time_point") ?? sum == sum)

        func expect(_ isAccepted: Bool, _ name: String) {
            let verdict: Int64 = isAccepted ? 0 : -19
            #expect(entry.number("server", name) ?? verdict == verdict, "\(name)")
        }
        for (factor, name) in [(vector.factor, "result_right_pin"), (vector.wrongFactor, "result_wrong_pin")] {
            let passOne = try vector.passOne(with: factor)
            let commitment = passOne.datedCommitment ?? passOne.commitment
            let challenge = try vector.challenge
            try expect(server.accepts(passOne.validator(for: challenge), for: challenge, of: commitment), name)
        }
        let proof = try vector.proof
        let commitment = proof.datedCommitment ?? proof.commitment
        let later = MPinHash.hash(commitment.encoding + proof.message, after: proof.time + 1)
        try expect(server.accepts(proof.validator, for: proof.challenge, of: commitment), "result_one_pass")
        try expect(server.accepts(proof.validator, for: later, of: commitment), "result_one_pass_time_plus_1")
    }

    @Test("the PINs of the vectors (MPIN 2.6, MPIN checklist 5)", arguments: VectorFiles.authentications)
    func pins(entry: VectorFiles.Entry) throws {
        for (pin, factor) in [("pin", "pin_factor"), ("wrong_pin", "wrong_pin_factor")] {
            let text = try #require(entry.text("input", pin))
            let expected = try #require(entry.number("expect", factor).flatMap(UInt16.init(exactly:)))
            #expect(Array(text.utf8).withUnsafeBytes { PINFactor.factor(of: PINFactor.hash(of: $0)) } == expected)
        }
    }

    @Test(
        "hashes to points with an even Y, above the prime too, whatever the tries (MPIN 2.4, MPIN checklist 3, 4)",
        arguments: VectorFiles.hashesToPoints)
    func map(entry: VectorFiles.Entry) throws {
        let hash = try #require(entry.bytes("hash"))
        try #require(hash.count == G1Point.hashByteCount)
        let point = try G1Point(mapping: hash).encoding
        #expect(Hex.encode(point) == entry.text("point"))
        #expect(point[64].isMultiple(of: 2))
        // How many tries it took, by the X that is found.
        guard let start = entry.bytes("x_start"), let increments = entry.number("increments") else { return }
        #expect(Array(point[1...32]) == Self.sum(start, try #require(Int(exactly: increments))))
    }

    /// A number, highest byte first, and a small one.
    private static func sum(_ number: [UInt8], _ more: Int) -> [UInt8] {
        var (sum, carry) = (number, more)
        for index in sum.indices.reversed() {
            carry += Int(sum[index])
            sum[index] = UInt8(carry & 0xFF)
            carry >>= 8
        }
        return sum
    }

    @Test("points that must not be taken (MPIN 2.2, MPIN checklist 12)", arguments: VectorFiles.invalidPoints)
    func invalid(entry: VectorFiles.Entry) throws {
        let octets = try #require(entry.text("octets").flatMap(Hex.decode))
        let error = #expect(throws: CurveError.self) { try G1Point(encoding: octets) }
        guard case .notAPoint = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("check digits (MPIN 5.13, MPIN checklist 29)", arguments: VectorFiles.accessNumbers)
    func accessNumbers(entry: VectorFiles.Entry) throws {
        let number = try #require(entry.text("number"))
        let isValid = try #require(entry["valid"]).bool
        #expect(AccessNumber.isAcceptable(number, digits: 7, usesCheckDigit: true) == isValid)
        // Servers leave out the numbers whose check digit would be 10 or 0.
        guard let isIssued = entry["server_would_issue"]?.bool else { return }
        #expect(isIssued == (isValid == true && !number.hasSuffix("0")))
    }

    @Test("of this curve are in every file, below a name by which they are found", arguments: VectorFiles.files)
    func files(file: VectorFiles.File) throws {
        #expect(file.json["curve"]?.string ?? "BN254CX" == "BN254CX")
        #expect(file.json["hash"]?.string ?? "SHA-256" == "SHA-256")
        #expect(VectorFiles.arrays.contains { file.json[$0]?.array?.isEmpty == false })
    }

    @Test("and the vectors are there, with several increments and hashes above the prime among them")
    func complete() throws {
        #expect(VectorFiles.authentications.count >= 12 && VectorFiles.accessNumbers.count >= 15)
        #expect(VectorFiles.authentications.contains { $0["server"] != nil && $0["input"]?["master_secret2"] != nil })
        #expect(VectorFiles.pinMapping.count >= 12 && VectorFiles.invalidPoints.count >= 10)
        let x = VectorFiles.authentications.compactMap { $0.bytes("input", "x") }
        let order = try #require(Hex.decode("2400000008702a0db0bddf647a6366d2c43fd6ee0cc906cebe11c0a636eb1f6d"))
        #expect(x.contains([UInt8](repeating: 0, count: 31) + [1]), "x = 1")
        #expect(x.contains(order.dropLast() + [0x6C]), "x = n - 1")
        let y = VectorFiles.authentications.compactMap { $0.bytes("input", "y") }
        #expect(y.contains([UInt8](repeating: 0, count: 32)), "y = 0")
        #expect(VectorFiles.hashesToPoints.contains { ($0.number("increments") ?? 0) > 1 })
        #expect(VectorFiles.hashesToPoints.contains { ($0.bytes("hash")?.first ?? 0) > 0x24 })
    }
}
