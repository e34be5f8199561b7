import Cryptography
import Foundation
import TestSupport
import Testing

@testable import Vault

@Suite("Memory of a TPM")
struct ChipIndexTests {
    let software = try! SoftwareTPM()  // Without swtpm there is nothing to test.
    var chip: Chip { software.chip }
    let authorization = try! SecretBytes.random(32)

    private let numbers = [ChipIndex.numbers.lowerBound + 7, ChipIndex.numbers.upperBound]

    /// A counter that has counted once.
    private func counter() throws -> ChipCounter {
        let made = try ChipCounter.prepare(under: numbers, in: chip, authorization)
        #expect(made.value == nil)
        _ = try made.counter.value(in: chip, authorization) { $0 == nil }
        return made.counter
    }

    @Test("a counter in a TPM goes up by one, and stays through hard power-offs")
    func counting() throws {
        let counter = try counter()
        #expect(counter.index.number == numbers[0])
        let first = try #require(try counter.value(in: chip, authorization))
        for step in 1...20 {
            #expect(try counter.value(in: chip, authorization) { _ in true } == first + UInt64(step))
            #expect(try counter.value(in: chip, authorization) == first + UInt64(step))
            if step % 5 == 0 {
                software.stop()
                try software.start()
            }
        }
        // It is found again by its number and value.
        let found = try ChipCounter.prepare(under: numbers, in: chip, authorization)
        #expect(found.counter == counter)
        #expect(found.value == first + 20)
        // One that is made anew does not start before it.
        try counter.remove(from: chip)
        try counter.remove(from: chip)
        #expect(throws: VaultError.chip(.indexMissing(number: counter.index.number))) {
            try counter.value(in: chip, authorization)
        }
        let next = try self.counter()
        #expect(try next.value(in: chip, authorization).map { $0 > first + 19 } == true)
    }

    @Test("a secret in a TPM is read until it is removed, and then by nobody")
    func secret() throws {
        let (place, secret) = try ChipSecret.make(in: chip, authorization: authorization)
        #expect(secret.count == 32)
        software.stop()
        try software.start()
        for _ in 0..<5 { #expect(try place.read(from: chip, authorization) == secret) }
        let (_, other) = try ChipSecret.make(in: chip, authorization: authorization)
        #expect(other != secret)
        try place.remove(from: chip)
        try place.remove(from: chip)
        #expect(throws: VaultError.chip(.indexMissing(number: place.index.number))) {
            try place.read(from: chip, authorization)
        }
    }

    @Test("memory of a TPM is not read with another value, and wrong ones do not lock the TPM")
    func unauthorized() throws {
        try #require(try software.run("tpm2_dictionarylockout", "-s", "-n", "1", "-t", "9999", "-l", "9999") == 0)
        let (place, secret) = try ChipSecret.make(in: chip, authorization: authorization)
        let counter = try counter()
        let wrong = try SecretBytes.random(32)
        for _ in 0..<5 {
            #expect(throws: VaultError.self) { try place.read(from: chip, wrong) }
            #expect(throws: VaultError.self) { try counter.value(in: chip, wrong) { _ in true } }
        }
        #expect(try place.read(from: chip, authorization) == secret)
        #expect(try counter.value(in: chip, authorization) { _ in true } != nil)
        // Nor does the owner read it, who has no value here.
        let number = "0x\(String(place.index.number, radix: 16))"
        #expect(try software.run("tpm2_nvread", "-C", "o", number) != 0)
    }

    @Test("memory of another TPM, or of one that was cleared, is told apart from memory that was removed")
    func otherChip() throws {
        let counter = try counter()
        let other = try SoftwareTPM()
        #expect(throws: VaultError.chip(.otherChip)) { try counter.value(in: other.chip, authorization) }
        try #require(try software.run("tpm2_clear", "-c", "p") == 0)
        #expect(throws: VaultError.chip(.otherChip)) { try counter.value(in: chip, authorization) }
        #expect(throws: VaultError.chip(.otherChip)) { try counter.remove(from: chip) }
    }

    @Test("a number of a TPM's memory that another program has is not taken")
    func taken() throws {
        let counter = try counter()
        #expect(throws: ChipError.indexTaken(number: counter.index.number)) {
            try chip.run { connection throws(ChipError) in
                try connection.define(.secret, number: counter.index.number, authorization: authorization)
            }
        }
        let other = try SecretBytes.random(32)
        #expect(try ChipCounter.prepare(under: numbers, in: chip, other).counter.index.number == numbers[1])
        #expect(throws: VaultError.chip(.indexTaken(number: numbers[1]))) {
            try ChipCounter.prepare(under: numbers, in: chip, try SecretBytes.random(32))
        }
    }

    @Test("neither a secret in a TPM nor the value for it is in the clear on the wire, also with an owner's value")
    func wire() throws {
        try #require(try software.run("tpm2_changeauth", "-c", "owner", "the owner's value") == 0)
        #expect(throws: VaultError.chip(.ownerUnauthorized)) {
            try ChipSecret.make(in: software.chip, authorization: authorization)
        }
        let relay = try ChipRelay(to: software)
        let owner = SecretBytes(utf8: "the owner's value")
        let chip = Chip(at: SoftwareTPM.place(relay.port), owner: owner)
        let (place, secret) = try ChipSecret.make(in: chip, authorization: authorization)
        #expect(try place.read(from: chip, authorization) == secret)
        try place.remove(from: chip)
        let wire = relay.messages.flatMap(\.self)
        #expect(wire.firstRange(of: place.index.primaryName.suffix(32)) != nil)
        for value in [secret, authorization, owner] {
            #expect(wire.firstRange(of: value.exposed().prefix(8)) == nil)
            #expect(wire.firstRange(of: value.exposed().suffix(8)) == nil)
        }
    }
}
