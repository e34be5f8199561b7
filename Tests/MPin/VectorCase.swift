import Cryptography
import Groundwork
import Testing

@testable import MPin

/// One authentication of the vectors, read and computed by the code under test. Each check compares what the vector
/// has, and needs only what leads there.
struct VectorCase {
    let entry: VectorFiles.Entry
    let identity: MPinID
    /// `nil` for a PIN that the vector lacks, or that is not printable ASCII.
    let factor: PINFactor?
    let wrongFactor: PINFactor?
    /// The master secrets: two, or none.
    let secrets: [G1Scalar]
    /// `nil` for date 0, which is no permit, and where it is not known.
    let date: MPinDate?
    let isDateKnown: Bool
    let shares: (G1Point, G1Point)?
    /// `nil` for date 0, and where its shares are not known.
    let permit: TimePermit?

    init?(_ entry: VectorFiles.Entry) throws {
        self.entry = entry
        let octets = entry.bytes("input", "mpin_id_hex") ?? entry.text("input", "mpin_id_text").map { Array($0.utf8) }
        guard let octets else { return nil }
        identity = try #require(MPinID(bytes: octets))
        factor = Self.factor(entry.text("input", "pin"))
        wrongFactor = Self.factor(entry.text("input", "wrong_pin"))
        let secrets = ["master_secret1", "master_secret2"].compactMap { Self.integer(entry, "input", $0) }
            .map { G1Scalar(reducing: $0) }
        self.secrets = secrets.count == 2 ? secrets : []
        let days = entry.number("input", "date") ?? 0
        date = MPinDate(days: days)
        isDateKnown = entry.number("input", "date") != nil
        #expect((date == nil) == (days == 0), "\(entry)")
        shares = try Self.shares(entry, "client_secret", of: identity.point(), self.secrets)
        if let date, let both = try Self.shares(entry, "time_permit", of: identity.point(on: date), self.secrets) {
            permit = try TimePermit(date: date, shares: both.0, both.1)
        } else {
            permit = nil
        }
    }

    private static func factor(_ pin: String?) -> PINFactor? { pin.flatMap { try? PINFactor(secret: .init(utf8: $0)) } }

    /// A number in hexadecimal, of any length.
    static func integer(_ entry: VectorFiles.Entry, _ group: String, _ name: String) -> [UInt8]? {
        guard let text = entry.text(group, name), !text.isEmpty else { return nil }
        return Hex.decode(text.utf8.count.isMultiple(of: 2) ? text : "0" + text)
    }

    private static func shares(
        _ entry: VectorFiles.Entry, _ name: String, of point: G1Point, _ secrets: [G1Scalar]
    ) throws -> (G1Point, G1Point)? {
        if let first = entry.bytes("expect", name + "_share1"), let second = entry.bytes("expect", name + "_share2") {
            return (try G1Point(encoding: first), try G1Point(encoding: second))
        }
        guard secrets.count == 2 else { return nil }
        return (try point.multiplied(by: secrets[0]), try point.multiplied(by: secrets[1]))
    }

    // MARK: What can be computed

    func token() throws -> MPinToken? {
        if let shares, let factor { return try MPinToken(shares: shares.0, shares.1, of: identity, without: factor) }
        return try entry.bytes("expect", "token").map { try MPinToken(encoding: SecretBytes($0)) }
    }

    var challenge: [UInt8]? { Self.integer(entry, "input", "y") }

    /// The first pass with the vector's x, handed to work that is left out if anything for it is missing.
    func withPassOne(_ factor: PINFactor?, _ work: (consuming PassOne) throws -> Void) throws {
        guard isDateKnown, let factor, let token = try token(), let x = Self.integer(entry, "input", "x"),
            (date == nil) == (permit == nil)
        else { return }
        let scalar = G1Scalar(reducing: x)
        try work(PassOne(identity: identity, token: token, factor: factor, permit: permit, x: scalar))
    }

    func withProof(_ work: (OnePass) throws -> Void) throws {
        guard let time = entry.number("input", "one_pass_time").flatMap(Int32.init(exactly:)) else { return }
        let message = entry.bytes("input", "one_pass_message_hex") ?? []
        try withPassOne(factor) { passOne in try work(passOne.proof(at: time, of: message)) }
    }

    // MARK: Checks

    func checkIdentity() throws {
        entry.expect("expect", "id_hash", equals: identity.hash)
        entry.expect("expect", "id_point", equals: try identity.point().encoding)
        guard let date else { return }
        entry.expect("expect", "time_hash", equals: MPinHash.hash(identity.hash, after: date.days))
        entry.expect("expect", "time_point", equals: try identity.point(on: date).encoding)
    }

    func checkPINs() throws {
        for (pin, prefix) in [("pin", "pin"), ("wrong_pin", "wrong_pin")] {
            // What is not printable is refused.
            guard let text = entry.text("input", pin), Self.factor(text) != nil else { continue }
            let hash = Array(text.utf8).withUnsafeBytes(PINFactor.hash)
            if let expected = entry.number("expect", prefix + "_hash") { #expect(Int64(hash) == expected, "\(entry)") }
            guard let expected = entry.number("expect", prefix + "_factor") else { continue }
            #expect(Int64(PINFactor.factor(of: hash)) == expected, "\(entry)")
        }
    }

    func checkToken() throws {
        if let shares {
            entry.expect("expect", "client_secret", equals: try shares.0.adding(shares.1).encoding)
        }
        guard let token = try token() else { return }
        entry.expect("expect", "token", equals: token.encoding.exposed())
        #expect(try MPinToken(encoding: token.encoding).encoding == token.encoding)
        guard let factor else { return }
        let restored = try token.restored(for: identity.point(), with: factor)
        entry.expect("expect", "client_secret", equals: restored.encoding)
        guard let shares else { return }
        let swapped = try MPinToken(shares: shares.1, shares.0, of: identity, without: factor)
        #expect(swapped.encoding == token.encoding)
    }

    func checkPasses() throws {
        if let permit { entry.expect("expect", "time_permit", equals: permit.point.encoding) }
        try withPassOne(factor) { passOne in
            checkCommitments(passOne.commitment, passOne.datedCommitment)
            entry.expect("expect", "S", equals: passOne.secret.encoding)
            try checkValidator(passOne, "V")
        }
        try withPassOne(wrongFactor) { passOne in try checkValidator(passOne, "wrong_pin_V") }
    }

    private func checkCommitments(_ commitment: G1Point, _ dated: G1Point?) {
        entry.expect("expect", "U", equals: commitment.encoding)
        // An empty text without a permit.
        entry.expect("expect", "UT", equals: dated?.encoding ?? [])
    }

    private func checkValidator(_ passOne: consuming PassOne, _ name: String) throws {
        guard let challenge else { return }
        do throws(CurveError) {
            entry.expect("expect", name, equals: try passOne.validator(for: challenge).encoding)
        } catch {
            #expect(error == .infinity && (entry.text("expect", name) ?? "").isEmpty, "\(entry)")
        }
    }

    func checkOnePass() throws {
        try withProof { proof in
            entry.expect("expect", "one_pass_y", equals: proof.challenge)
            entry.expect("expect", "one_pass_V", equals: proof.validator.encoding)
            checkCommitments(proof.commitment, proof.datedCommitment)
        }
    }

    func checkServer() throws {
        // Nothing of the server can be known without them.
        guard isDateKnown, secrets.count == 2 else { return }
        for (index, secret) in secrets.enumerated() {
            let name = "share\(index + 1)"
            entry.expect(
                "expect", "client_secret_" + name, equals: try identity.point().multiplied(by: secret).encoding)
            guard let date else { continue }
            entry.expect(
                "expect", "time_permit_" + name, equals: try identity.point(on: date).multiplied(by: secret).encoding)
        }
        let server = try ServerEquation(secret: secrets[0].adding(secrets[1]), of: identity, on: date)
        entry.expect("server", "sum_id_time_point", equals: date == nil ? [] : server.base.encoding)

        func expect(_ isAccepted: Bool, _ name: String) {
            let verdict: Int64 = isAccepted ? 0 : -19
            #expect(entry.number("server", name) ?? verdict == verdict, "\(name) of \(entry)")
        }
        for (factor, name) in [(factor, "result_right_pin"), (wrongFactor, "result_wrong_pin")] {
            guard let challenge else { continue }
            try withPassOne(factor) { passOne in
                let commitment = passOne.datedCommitment ?? passOne.commitment
                guard let validator = try? passOne.validator(for: challenge) else { return }
                try expect(server.accepts(validator, for: challenge, of: commitment), name)
            }
        }
        try withProof { proof in
            let commitment = proof.datedCommitment ?? proof.commitment
            try expect(server.accepts(proof.validator, for: proof.challenge, of: commitment), "result_one_pass")
            guard proof.time < .max else { return }
            let later = MPinHash.hash(commitment.encoding + proof.message, after: proof.time + 1)
            try expect(server.accepts(proof.validator, for: later, of: commitment), "result_one_pass_time_plus_1")
        }
    }

    func check() throws {
        try checkIdentity()
        try checkPINs()
        try checkToken()
        try checkPasses()
        try checkOnePass()
        try checkServer()
    }
}
