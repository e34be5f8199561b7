import Cryptography
import Foundation
import Groundwork
import Synchronization

@testable import Vault

/// A vault with a passcode's compartment, whose clocks the test sets.
final class PasscodeBench: Sendable {
    static let right = SecretBytes(utf8: "right passcode")
    static let wrong = SecretBytes(utf8: "wrong passcode")

    let desk: Desk
    private let seconds = Mutex(0.0)

    init() throws { desk = try Desk() }

    var date: Date { Date(timeIntervalSince1970: 1_800_000_000 + seconds.withLock { $0 }) }

    /// Lets time pass on both clocks.
    func pass(_ passed: Double) { seconds.withLock { $0 += passed } }

    /// Lets the longest wait between attempts pass.
    func passWait() { pass(UnlockPolicy.longestWait) }

    func open(_ hardware: PasscodeHardware? = nil) async throws -> (vault: Vault, compartment: Compartment) {
        let vault = try await desk.open()
        return (vault, compartment(of: vault, hardware))
    }

    /// Records of the scope `user` are a person's.
    func compartment(of vault: Vault, _ hardware: PasscodeHardware? = nil) -> Compartment {
        Compartment(
            of: vault, hardware: hardware,
            personalRecords: { () async throws(VaultError) in try await vault.names(scope: "user") }, cost: lightCost,
            date: { self.date },
            uptime: { .seconds(self.seconds.withLock { $0 }) })
    }

    /// A vault with a passcode that is open, and one record of each level, whose content is the name of the level.
    func filled() async throws -> (vault: Vault, compartment: Compartment) {
        let (vault, compartment) = try await open()
        try await compartment.set(Self.right)
        try await vault.commit(
            ProtectionLevel.allCases.map {
                .put(Self.record($0), .token, SecretBytes(utf8: $0.rawValue), level: $0)
            })
        return (vault, compartment)
    }

    static func record(_ level: ProtectionLevel) -> RecordName { RecordName(scope: "s", name: level.rawValue) }
}

/// The number in the domain `secure-store` of the error; `nil` without one.
func code(_ body: () async throws -> Void) async throws -> Int? {
    do {
        try await body()
        return nil
    } catch VaultError.passcode(let error) {
        return error.number()
    }
}

extension Vault {
    /// The levels whose record of ``PasscodeBench/filled()`` can be read.
    func readable() throws -> [ProtectionLevel] {
        try ProtectionLevel.allCases.filter { level in
            do {
                return try text(PasscodeBench.record(level)) == level.rawValue
            } catch VaultError.levelLocked(path, level) {
                return false
            }
        }
    }
}

/// The secret of a chip, in memory.
final class MemoryHardware: Sendable {
    private let secret = Mutex<SecretBytes?>(nil)
    private let isAbsent = Mutex(false)

    var isEmpty: Bool { secret.withLock { $0 == nil } }
    /// Whether the chip does not answer.
    func set(absent: Bool) { isAbsent.withLock { $0 = absent } }
    func replace() { secret.withLock { $0 = SecretBytes([UInt8](repeating: 9, count: 32)) } }

    private func check() throws(VaultError) {
        guard !isAbsent.withLock({ $0 }) else { throw .chip(.absent(place: "test")) }
    }

    private static let place = SecretBytes(utf8: "place")

    var half: PasscodeHardware {
        PasscodeHardware(
            make: { () async throws(VaultError) in
                try self.check()
                let made = try explained { try SecretBytes.random(32) }
                self.secret.withLock { $0 = made }
                return (Self.place, made)
            },
            read: { place async throws(VaultError) in
                try self.check()
                guard place == Self.place, let secret = self.secret.withLock({ $0 }) else {
                    throw .chip(.indexMissing(number: 1))
                }
                return secret
            },
            remove: { _ async throws(VaultError) in
                try self.check()
                self.secret.withLock { $0 = nil }
            })
    }
}
