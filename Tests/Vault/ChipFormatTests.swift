import Cryptography
import Groundwork
import Testing

@testable import Vault

/// What the vault keeps of objects in a TPM is read by all later versions.
@Suite("Formats of what is kept of a TPM's objects")
struct ChipFormatTests {
    private let name = [0x00, 0x0B] + [UInt8](repeating: 7, count: 32)
    private let x = [UInt8](repeating: 1, count: 32)
    private let y = [UInt8](repeating: 2, count: 32)

    /// A field of bytes: its count, then its content.
    private func field(_ bytes: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(bytes.count)] + bytes }
    private func number(_ number: UInt8) -> [UInt8] { [0, 0, 0, 0, 0, 0, 0, number] }

    @Test("a key's handle is read as its first version was written")
    func handle() throws {
        let area = ChipTemplate.p256.head + [0, 32] + x + [0, 32] + y
        let authorization = [UInt8](repeating: 9, count: 32)
        let bytes =
            field(Array("tpm key".utf8)) + number(1) + number(1) + field(name) + field(area) + field([3, 4, 5])
            + number(0) + field(authorization)
        let handle = try #require(TPMKeyHandle(decoding: SecretBytes(bytes)))
        #expect(handle.publicKey == .p256(x: x, y: y))
        #expect(handle.object == ChipObject(publicArea: area, privateArea: [3, 4, 5]))
        #expect(handle.primaryName == name)
        #expect(handle.ways == [])
        #expect(handle.authorization == SecretBytes(authorization))
        #expect(handle.encoded() == SecretBytes(bytes))
    }

    @Test("a key's handle is refused with another version, template, way, name, authorization or kind of key")
    func refusedHandles() {
        let area = ChipTemplate.p256.head + [0, 32] + x + [0, 32] + y
        let purpose = field(Array("tpm key".utf8))
        let object = field(name) + field(area) + field([3])
        let rest = number(0) + field([UInt8](repeating: 9, count: 32))
        #expect(TPMKeyHandle(decoding: SecretBytes(purpose + number(1) + number(1) + object + rest)) != nil)
        let otherObject = field([0x00, 0x0C] + name.dropFirst(2)) + field(area) + field([3])
        let emptyObject = field(name) + field(area) + field([])
        let longX = field(name) + field(ChipTemplate.p256.head + [0, 33] + x + [1, 0, 32] + y) + field([3])
        let sealed = field(name) + field(ChipTemplate.sealed(policy: []).head + [0, 32] + x) + field([3])
        for bytes in [
            field(Array("tpm kez".utf8)) + number(1) + number(1) + object + rest,
            purpose + number(2) + number(1) + object + rest, purpose + number(1) + number(2) + object + rest,
            purpose + number(1) + number(1) + object + number(1) + field([UInt8](repeating: 9, count: 32)),
            purpose + number(1) + number(1) + object + number(4) + field([UInt8](repeating: 9, count: 32)),
            purpose + number(1) + number(1) + object + number(0) + field([UInt8](repeating: 9, count: 31)),
            purpose + number(1) + number(1) + otherObject + rest, purpose + number(1) + number(1) + emptyObject + rest,
            purpose + number(1) + number(1) + longX + rest, purpose + number(1) + number(1) + sealed + rest,
        ] { #expect(TPMKeyHandle(decoding: SecretBytes(bytes)) == nil, "\(Hex.encode(bytes))") }
    }

    @Test("an RSA key's area has a modulus of exactly the bits that it says, from 2048 on")
    func rsaAreas() {
        for (bits, bytes, first, isKey) in [
            (2048, 256, 0x80, true), (2048, 256, 0x7F, false), (2048, 255, 0x80, false), (2048, 257, 0x80, false),
            (1024, 128, 0x80, false), (4096, 512, 0xFF, true), (2052, 256, 0x80, false),
        ] as [(UInt16, Int, UInt8, Bool)] {
            let modulus = [first] + [UInt8](repeating: 5, count: bytes - 1)
            let area = ChipTemplate.rsa(bits: bits).head + [UInt8(bytes >> 8), UInt8(bytes & 0xFF)] + modulus
            #expect((ChipPublicKey(area) == .rsa(modulus: modulus)) == isKey)
            #expect(ChipPublicKey(area + [0]) == nil)
        }
        // Without noDA.
        let weak = [0x00, 0x01, 0x00, 0x0B, 0x00, 0x06, 0x00, 0x72] + ChipTemplate.rsa(bits: 2048).head.dropFirst(8)
        #expect(ChipPublicKey(weak + [1, 0] + [UInt8](repeating: 0xFF, count: 256)) == nil)
    }

    @Test("a slot's parameters are read as their first version was written, with registers and without")
    func parameters() throws {
        for (registers, policy) in [(UInt8(0), [UInt8]()), (0x81, [UInt8](repeating: 6, count: 32))] {
            let area = ChipTemplate.sealed(policy: policy).head + [0, 32] + x
            let bytes =
                field(Array("tpm sealed".utf8)) + number(1) + field(name) + field(area) + field([3, 4, 5])
                + number(registers)
            let parameters = try #require(TPMSlot.Parameters(decoding: bytes))
            #expect(parameters.registers == ChipRegisters(registers == 0 ? [] : [0, 7]))
            #expect(parameters.object == ChipObject(publicArea: area, privateArea: [3, 4, 5]))
            #expect(parameters.primaryName == name)
            #expect(parameters.encoded() == bytes)
            // Registers without a policy, and a policy without registers.
            let other = bytes.dropLast() + [registers == 0 ? 1 : 0]
            #expect(TPMSlot.Parameters(decoding: Array(other)) == nil)
        }
    }

    @Test("ECDSA signatures are coded in DER, also those of short or leading numbers")
    func der() {
        for (r, s, der) in [
            ("01", "02", "3006020101020102"), ("80", "7f", "300702020080" + "02017f"),
            ("0001", "00", "3006020101020100"),
            ("", "ff00", "3008020100" + "020300ff00"),
        ] {
            let coded = ECDSASignature.der(Hex.decode(r) ?? [], Hex.decode(s) ?? [])
            #expect(Hex.encode(coded) == der)
        }
    }
}
