import Cryptography
import Foundation
import TestSupport
import Testing

@testable import Vault

/// What passes between this program and a TPM, seen and changed by somebody on the wire.
@Suite("The wire to a TPM")
struct ChipWireTests {
    let software = try! SoftwareTPM()  // Without swtpm there is nothing to test.

    private static let digest = UnsignedDigest(SHA256.hash("message".utf8), by: .sha256, .ecdsa)
    private static let signing: Set = [0x131, 0x176, 0x157, 0x15D]

    /// A chip that is not waited for.
    private func hasty(_ relay: ChipRelay) -> Chip {
        Chip(at: SoftwareTPM.place(relay.port), patience: .milliseconds(200))
    }

    @Test("no secret is in the clear on the wire to a TPM")
    func secrets() async throws {
        let owner = SecretBytes(utf8: "the owner's value")
        try #require(try software.run("tpm2_changeauth", "-c", "owner", "the owner's value") == 0)
        let relay = try ChipRelay(to: software)
        let chip = Chip(at: SoftwareTPM.place(relay.port), owner: owner)
        let keys = TPMKeys(chip)
        let key = try keys.make(.p256, name: "device")
        _ = try keys.signer(of: key).sign(Self.digest)
        let sealed = try await TPMSlot(chip).makeWrappingKey()
        let bound = TPMSlot(chip, registers: try #require(ChipRegisters([7])))
        let alsoSealed = try await bound.makeWrappingKey()
        for parameters in [sealed.parameters, alsoSealed.parameters] {
            _ = try await bound.wrappingKey(from: parameters)
        }
        let handle = try #require(TPMKeyHandle(decoding: key.handle))
        let wire = relay.messages.flatMap(\.self)
        // What is not secret is seen there: the key's coordinate, and the commands.
        guard case .p256(let x, _) = handle.publicKey else { throw Unexpected("not P-256") }
        #expect(wire.firstRange(of: x) != nil)
        let commands = Set(
            stride(from: 0, to: relay.messages.count, by: 2).map { ChipRelay.code(of: relay.messages[$0]) })
        #expect(commands.isSuperset(of: Self.signing.union([0x153, 0x15E])))
        for secret in [handle.authorization, sealed.key, alsoSealed.key, owner] {
            let bytes = secret.exposed()
            #expect(wire.firstRange(of: bytes.prefix(8)) == nil)
            #expect(wire.firstRange(of: bytes.suffix(8)) == nil)
        }
        // The private part of an object is sent as it is in the file, but encrypted once more.
        #expect(wire.firstRange(of: handle.object.privateArea.suffix(16)) == nil)
    }

    @Test("a TPM with another storage root key gets nothing but the command that makes it")
    func otherName() throws {
        let key = try TPMKeys(software.chip).make(.p256, name: "device")
        let other = try SoftwareTPM()
        let relay = try ChipRelay(to: other)
        #expect(throws: ChipError.otherChip) { try TPMKeys(relay.chip).signer(of: key).sign(Self.digest) }
        let messages = relay.messages
        #expect(stride(from: 0, to: messages.count, by: 2).map { ChipRelay.code(of: messages[$0]) } == [0x131, 0x165])
    }

    @Test("a busy TPM is asked again until it works, each time from the beginning", arguments: [0x922, 0x920, 0x90A])
    func busy(code: Int) throws {
        let key = try TPMKeys(software.chip).make(.p256, name: "device")
        let relay = try ChipRelay(to: software) { number, command in
            // Three of them, more often than the software stack tries by itself.
            number < 12 && number % 4 != 0 ? .answer(ChipRelay.refusal(UInt32(code))) : .pass
        }
        #expect(try !TPMKeys(relay.chip).signer(of: key).sign(Self.digest).isEmpty)
        #expect(relay.messages.count > 24)
    }

    @Test("a TPM that stays busy is a temporary error after a bounded time")
    func alwaysBusy() throws {
        let key = try TPMKeys(software.chip).make(.p256, name: "device")
        let relay = try ChipRelay(to: software) { _, command in .answer(ChipRelay.refusal(0x922)) }
        let chip = hasty(relay)
        let start = ContinuousClock.now
        let error = try #require(throws: ChipError.self) { try TPMKeys(chip).signer(of: key).sign(Self.digest) }
        #expect(error == .busy(operation: "make the storage root key"))
        #expect(error.isTemporary)
        #expect(.now - start < .seconds(5))
        #expect(relay.messages.count > 4)
    }

    @Test("a TPM that is locked out is not asked again")
    func lockedOut() throws {
        let key = try TPMKeys(software.chip).make(.p256, name: "device")
        let relay = try ChipRelay(to: software) { _, command in
            ChipRelay.code(of: command) == 0x15D ? .answer(ChipRelay.refusal(0x921)) : .pass
        }
        #expect(throws: ChipError.lockedOut) { try TPMKeys(relay.chip).signer(of: key).sign(Self.digest) }
        // And leaves nothing loaded.
        for _ in 0..<5 {
            #expect(throws: ChipError.lockedOut) { try TPMKeys(relay.chip).signer(of: key).sign(Self.digest) }
        }
    }

    @Test("a TPM that is gone in the middle is a temporary error, at once, and works again when it is back")
    func gone() throws {
        let key = try TPMKeys(software.chip).make(.p256, name: "device")
        for last in 0..<Self.signing.count {
            let software = software
            let relay = try ChipRelay(to: software) { number, _ in
                if number == last { software.stop() }
                return .pass
            }
            let start = ContinuousClock.now
            let error = try #require(throws: ChipError.self) {
                try TPMKeys(relay.chip).signer(of: key).sign(Self.digest)
            }
            guard case .gone = error else {
                Issue.record("\(error)")
                return
            }
            #expect(error.isTemporary)
            #expect(.now - start < .seconds(5))
            try software.start()
            #expect(try !TPMKeys(software.chip).signer(of: key).sign(Self.digest).isEmpty)
        }
    }

    @Test(
        "answers of a TPM that are cut, changed or of another size are refused, and nothing crashes",
        arguments: changes.indices)
    func malformed(change: Int) async throws {
        let slot = TPMSlot(software.chip)
        let made = try await slot.makeWrappingKey()
        let key = try TPMKeys(software.chip).make(.p256, name: "device")
        for target in 0..<Self.signing.count {
            let software = software
            let interference: ChipRelay.Interference = { number, _ in
                number == target ? .change(Self.changes[change]) : .pass
            }
            let first = try ChipRelay(to: software, interference)
            await #expect(throws: VaultError.self) {
                try await TPMSlot(hasty(first)).wrappingKey(from: made.parameters)
            }
            let second = try ChipRelay(to: software, interference)
            #expect(throws: ChipError.self) { try TPMKeys(hasty(second)).signer(of: key).sign(Self.digest) }
            // What a chip has loaded under a handle that did not come through is removed by its restart.
            software.stop()
            try software.start()
        }
        #expect(try await slot.wrappingKey(from: made.parameters) == made.key)
    }

    private static let changes: [@Sendable ([UInt8]) -> [UInt8]] = [
        // Ends in the middle, in the header, or with a header that fits.
        { Array($0.prefix($0.count / 2)) },
        { Array($0.prefix(5)) },
        { _ in [0x80, 0x01, 0, 0, 0, 10, 0, 0, 0, 0] },
        { Array($0.prefix(2)) + [0, 0, 0, 12] + $0.dropFirst(6).prefix(6) },
        // Lengths that are too long.
        { Array($0.prefix(2)) + [0xFF, 0xFF, 0xFF, 0xFF] + $0.dropFirst(6) },
        { $0.count > 20 ? Array($0.prefix(14)) + [0xFF, 0xFF] + $0.dropFirst(16) : [0x80, 0x01, 0, 0, 0, 3] },
        // One byte before the end: of a code (HMAC), a nonce or a signature.
        { Array($0.dropLast()) + [$0[$0.count - 1] ^ 1] },
        { answer in answer.indices.map { $0 < 10 ? answer[$0] : answer[$0] ^ 0xA5 } },
        // A code of no layer.
        { _ in [0x80, 0x01, 0, 0, 0, 10, 0xFF, 0xFF, 0xFF, 0xFF] },
    ]
}
