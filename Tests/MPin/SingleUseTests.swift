import Foundation
import TestSupport
import Testing

/// Two answers with the same x reveal the secret, so the compiler has to refuse whatever would make them.
@Suite("A first pass of M-Pin")
struct SingleUseTests {
    private static let before = """
        import Cryptography
        import MPin
        """

    @Test("a first pass serves one second pass", .timeLimit(.minutes(8)))
    func once() async throws {
        let errors = try await Self.errors(
            """
            func use(_ pass: consuming PassOne) throws -> (G1Point, G1Point) {
                let commitment = pass.commitment
                return (commitment, try pass.validator(for: []))
            }
            """)
        #expect(errors == [])
    }

    @Test(
        "a first pass cannot be used twice, copied or used by a borrower (MPIN checklist 11)", .timeLimit(.minutes(8)),
        arguments: [
            "func f(_ pass: consuming PassOne) throws { _ = (try pass.validator(for: []), try pass.validator(for: [])) }",
            "func f(_ pass: consuming PassOne) throws { _ = (try pass.validator(for: []), try pass.proof(at: 1)) }",
            "func f(_ pass: consuming PassOne) throws { for _ in 0..<2 { _ = try pass.validator(for: []) } }",
            "func f(_ pass: borrowing PassOne) throws { _ = try pass.validator(for: []) }",
            "func f(_ pass: borrowing PassOne) -> PassOne { pass }",
            "func f(_ pass: consuming PassOne) -> [PassOne] { [pass] }",
        ])
    func refused(source: String) async throws {
        #expect(try await !Self.errors(source).isEmpty)
    }

    private static func errors(_ source: String) async throws -> [String] {
        try await Compiler.errors(
            in: "\(before)\n\(source)",
            libraries: ["CLinux", "COpenSSL", "CKeyProvider", "CSQLite", "CTSS2", "CPKCS11", "CCurl"])
    }
}
