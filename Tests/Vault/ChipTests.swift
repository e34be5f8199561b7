import Cryptography
import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Vault

@Suite("A TPM")
struct ChipTests {
    private static let digest = UnsignedDigest(SHA256.hash("message".utf8), by: .sha256, .ecdsa)

    // MARK: What never changes

    @Test("a TPM gets the templates of objects as they are since their first version, byte by byte")
    func templates() {
        let zeros = String(repeating: "00", count: 32)
        let policy = [UInt8](repeating: 0xAB, count: 32)
        let known: [(ChipTemplate, String)] = [
            (.storage, "0023000b0003047200000006008000430010000300100020\(zeros)0020\(zeros)"),
            (.rsa(bits: 2048), "0001000b00060472000000100010080000000000" + "0000"),
            (.rsa(bits: 3072), "0001000b000604720000001000100c0000000000" + "0000"),
            (.p256, "0023000b0004047200000010001000030010" + "00000000"),
            (.sealed(policy: []), "0008000b0000045200000010" + "0000"),
            (.sealed(policy: policy), "0008000b000004120020\(Hex.encode(policy))0010" + "0000"),
        ]
        for (template, bytes) in known { #expect(Hex.encode(template.bytes) == bytes) }
        #expect(Hex.encode(ChipTemplate.rsaParameters(bits: 2048)) == "000100100010080000000000")
        #expect(ChipTemplate.storageID == 1)
    }

    @Test("a TPM has the storage root key that the TCG's template gives with other programs")
    func storageRootKey() throws {
        let software = try SoftwareTPM()
        // Two coordinates as tpm2-tools reads them: 32 bytes of zeros, in rooms of 128.
        let coordinate = "\u{20}" + String(repeating: "\0", count: 1 + 128)
        try software.write(coordinate + coordinate, to: "unique")
        try #require(
            try software.run(
                "tpm2_createprimary", "-C", "o", "-G", "ecc256:aes128cfb", "-g", "sha256", "-u", "DIR/unique", "-a",
                "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|noda|restricted|decrypt", "-c", "DIR/p.ctx")
                == 0)
        try #require(try software.run("tpm2_readpublic", "-c", "DIR/p.ctx", "-n", "DIR/name") == 0)
        try software.run("tpm2_flushcontext", "-t")
        #expect(try software.chip.run { $0.primaryName } == software.read("name"))
    }

    // MARK: Codes

    @Test(
        "a TPM's codes are told apart, whatever parameter, session or layer they are about",
        arguments: [
            (0x1DF, ChipError.otherChip), (0x2DF, .otherChip), (0x9F, .otherChip), (0xB_01DF, .otherChip),
            (0xC_01DF, .otherChip), (0x99D, .registersChanged), (0x19D, .registersChanged), (0x921, .lockedOut),
            (0x920, .busy(operation: "sign")), (0x922, .busy(operation: "sign")), (0x90A, .busy(operation: "sign")),
            (0xB_0922, .busy(operation: "sign")), (0x902, .busy(operation: "sign")), (0x128, .busy(operation: "sign")),
            (0x101, .refused(operation: "sign", code: 0x101)), (0x2C4, .refused(operation: "sign", code: 0x2C4)),
            // Format zero: 0x11F has the last bits of 0x9F, and 0x11D of 0x9D.
            (0x11F, .refused(operation: "sign", code: 0x11F)), (0x11D, .refused(operation: "sign", code: 0x11D)),
            (0xA_000A, .gone(operation: "sign")), (0xA_0008, .gone(operation: "sign")),
            (0xA_0009, .busy(operation: "sign")), (0xA_0011, .answerMalformed(operation: "sign")),
            (0x7_001B, .answerMalformed(operation: "sign")), (0x8_0013, .answerMalformed(operation: "sign")),
            (0x9_0006, .answerMalformed(operation: "sign")), (0x7_0018, .refused(operation: "sign", code: 0x7_0018)),
        ] as [(UInt32, ChipError)])
    func codes(raw: UInt32, error: ChipError) { #expect(ChipCode(raw: raw).error("sign") == error) }

    @Test("a TPM's errors say whether it may work later, and what to do")
    func errors() {
        #expect(ChipCode(raw: 0).error("sign") == nil)
        let temporary: [ChipError] = [
            .absent(place: "TCTI"), .gone(operation: "OPERATION"), .busy(operation: "OPERATION"), .lockedOut,
        ]
        for error in ChipError.examples {
            #expect(error.isTemporary == temporary.contains(error))
            #expect((error.kind == .temporary) == error.isTemporary)
            #expect(error.isTemporary || error.remedy != nil)
            #expect(error.code.hasPrefix("tpm."))
            #expect(VaultError.chip(error).explanation == error.explanation)
            #expect(!VaultError.chip(error).isDamage)
        }
        #expect(ChipError.lockedOut.remedy?.contains("--clear-lockout") == true)
        #expect(ChipError.libraryMissing(name: "").remedy?.contains("libtss2-esys-3.0.2-0") == true)
        #expect(ChipCode(raw: 0x98E).isUnauthorized && ChipCode(raw: 0x9A2).isUnauthorized)
        #expect(!ChipCode(raw: 0xA_000E).isUnauthorized)
    }

    // MARK: What is not there

    @Test("a TPM that is not there, and a library of the stack that is missing, are told apart")
    func missing() throws {
        let folder = try Desk()
        let device = folder.directory + "/device"
        for (place, error) in [
            ("device:\(device)", ChipError.absent(place: "device:\(device)")),
            ("device:/dev/null", .absent(place: "device:/dev/null")),
            ("none-such:host", .libraryMissing(name: "libtss2-tcti-none-such.so.0")),
        ] {
            #expect(throws: error) { try Chip(at: place).run { $0.primaryName } }
        }
        #expect(throws: ChipError.self) { try Chip(at: SoftwareTPM.place(UnusedPort.reservePair())).run { _ in } }
    }

    @Test("a TPM that the agent's user may not use is told from one that is not there")
    func notPermitted() async throws {
        let desk = try Desk()
        let path = desk.directory + "/device"
        try desk.write(Data(), to: path, mode: 0)
        typealias SetUser = @convention(c) (UInt32) -> Int32
        // Glibc's module leaves setfsuid(2) out.
        let setUser = unsafeBitCast(try #require(dlsym(nil, "setfsuid")), to: SetUser.self)
        let error = await withCheckedContinuation { (continuation: CheckedContinuation<ChipError, Never>) in
            Thread.detachNewThread {
                // Of this thread alone: root may open all files.
                _ = setUser(65534)
                continuation.resume(returning: ChipPlace("device:\(path)").openingError(ChipCode(raw: 0xA_000A)))
            }
        }
        #expect(error == .notPermitted(place: "device:\(path)"))
        #expect(error.remedy?.contains("tss") == true)
        #expect(!error.isTemporary)
    }

    // MARK: What is left in it

    @Test("a TPM has nothing loaded after an operation, whether it worked or not")
    func nothingLoaded() async throws {
        let software = try SoftwareTPM()
        let chip = software.chip
        let keys = TPMKeys(chip)
        let key = try keys.make(.p256, name: "device")
        let signer = try keys.signer(of: key)
        _ = try signer.sign(Self.digest)
        #expect(try software.loadedHandles().isEmpty)
        let bound = TPMSlot(chip, registers: try #require(ChipRegisters([16])))
        let made = try await bound.makeWrappingKey()
        _ = try await bound.wrappingKey(from: made.parameters)
        #expect(try software.loadedHandles().isEmpty)
        // Refused with the object and both sessions loaded.
        try #require(try software.run("tpm2_pcrextend", "16:sha256=\(String(repeating: "5a", count: 32))") == 0)
        await #expect(throws: VaultError.chip(.registersChanged)) { try await bound.wrappingKey(from: made.parameters) }
        #expect(try software.loadedHandles().isEmpty)
        let authorization = try SecretBytes.random(32)
        let number = ChipIndex.numbers.lowerBound
        let (counter, _) = try ChipCounter.prepare(under: [number], in: chip, authorization)
        #expect(throws: VaultError.self) { try counter.value(in: chip, try SecretBytes.random(32)) }
        #expect(try software.loadedHandles().isEmpty)
        // The list is not always empty.
        try #require(try software.run("tpm2_createprimary", "-C", "o", "-c", "DIR/p.ctx") == 0)
        #expect(try software.loadedHandles().contains("0x80000000"))
    }
}
