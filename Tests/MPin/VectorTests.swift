import Cryptography
import Foundation
import Groundwork
import TestSupport
import Testing

@testable import MPin

@Suite("Known computations of M-Pin")
struct VectorTests {
    @Test(
        "vectors give the hash and point of identity and date (MPIN 2.3, 2.4, MPIN checklist 2)",
        arguments: VectorFiles.authentications)
    func identity(entry: VectorFiles.Entry) throws { try VectorCase(entry)?.checkIdentity() }

    @Test(
        "vectors give the secret as the sum of its shares, and the token (MPIN 2.7, MPIN checklist 6, 7)",
        arguments: VectorFiles.authentications)
    func token(entry: VectorFiles.Entry) throws { try VectorCase(entry)?.checkToken() }

    @Test(
        "vectors give U, UT and V of the right PIN and V of a wrong one (MPIN 2.8, MPIN checklist 8, 9)",
        arguments: VectorFiles.authentications)
    func twoPasses(entry: VectorFiles.Entry) throws { try VectorCase(entry)?.checkPasses() }

    @Test(
        "vectors give y and V of the one-pass form, with message and permit or not (MPIN 2.9, MPIN checklist 13)",
        arguments: VectorFiles.authentications)
    func onePass(entry: VectorFiles.Entry) throws { try VectorCase(entry)?.checkOnePass() }

    @Test(
        "vectors give shares by master secrets, and verdicts on PINs and times (MPIN checklist 14)",
        arguments: VectorFiles.authentications)
    func server(entry: VectorFiles.Entry) throws { try VectorCase(entry)?.checkServer() }

    @Test("vectors give the factors of PINs (MPIN 2.6, MPIN checklist 5)", arguments: VectorFiles.authentications)
    func pins(entry: VectorFiles.Entry) throws { try VectorCase(entry)?.checkPINs() }

    @Test("vectors give the servers' shares in G2 and their sum, by plain integers (MPIN 4.1)")
    func serverSecrets() async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "server_secrets.py")
        let checking = try RunningProgram(
            URL(filePath: "/usr/bin/python3"), ["-B", script.path, VectorFiles.folder.path])
        #expect(try await checking.ended(within: 300) == 0, "\(checking.errors.text)")
        #expect(try #require(Int(checking.output.text.split(separator: " ").first ?? "")) >= 36)
    }

    @Test(
        "vectors hash to points with an even Y, also above the prime (MPIN 2.4, MPIN checklist 3, 4)",
        arguments: VectorFiles.hashesToPoints)
    func map(entry: VectorFiles.Entry) throws {
        guard let hash = entry.bytes("hash") else { return }
        try #require(hash.count == G1Point.hashByteCount)
        let point = try G1Point(mapping: hash).encoding
        entry.expect("point", equals: point)
        #expect(point[64].isMultiple(of: 2))
        // How many tries it took, by the X that is found.
        guard let start = entry.bytes("x_start"), let increments = entry.number("increments") else { return }
        let padded = [UInt8](repeating: 0, count: max(0, 32 - start.count)) + start
        #expect(Array(point[1...32]) == Self.sum(padded, try #require(Int(exactly: increments))))
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

    @Test(
        "vectors of points that must not be taken are refused (MPIN 2.2, MPIN checklist 12)",
        arguments: VectorFiles.invalidPoints)
    func invalid(entry: VectorFiles.Entry) throws {
        guard let text = entry.text("octets") else { return }
        // As it comes in an answer, where it may be no octets at all.
        let answer = try Answer(JSON.object(["point": .string(text)]).bytes, from: "a vector")
        #expect(throws: MPinError.self) { try answer.point("point") }
        guard let octets = Hex.decode(text) else { return }
        let error = #expect(throws: CurveError.self) { try G1Point(encoding: octets) }
        guard case .notAPoint = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(
        "vectors give the check digits of access numbers (MPIN 5.13, MPIN checklist 29)",
        arguments: VectorFiles.accessNumbers)
    func accessNumbers(entry: VectorFiles.Entry) throws {
        guard let number = entry.text("number") ?? entry.number("number").map(String.init),
            let isValid = entry["valid"]?.bool
        else { return }
        #expect(AccessNumber.isAcceptable(number, digits: 7, usesCheckDigit: true) == isValid)
        // Servers leave out the numbers whose check digit would be 10 or 0.
        guard let isIssued = entry["server_would_issue"]?.bool else { return }
        #expect(isIssued == (isValid && !number.hasSuffix("0")))
    }

    @Test("vectors of every file are found below a name, and are of this curve or the file is of another")
    func files() throws {
        for file in VectorFiles.files {
            #expect(file.json != nil, "\(file) is not JSON")
            #expect(VectorFiles.arrays.contains { file.json?[$0]?.array?.isEmpty == false }, "\(file) has none")
            if let reason = file.otherness { print("no points of \(file) are compared: \(reason)") }
        }
    }

    @Test("vectors are there, with several increments and hashes above the prime among them")
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
