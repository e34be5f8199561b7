import Cryptography
import Foundation
import Groundwork
import Storage
import TestSupport
import Testing

@testable import Vault

@Suite("Passcode", .timeLimit(.minutes(3)))
struct CompartmentTests {
    let bench = try! PasscodeBench()  // Without a temporary directory there is nothing to test.
    private let right = PasscodeBench.right
    private let wrong = PasscodeBench.wrong

    @Test("a passcode answers with the numbers of SMP A4 (SMP 31)")
    func numbers() async throws {
        let (vault, compartment) = try await bench.open()
        #expect(try await code { try await compartment.unlock(by: right) } == 3)
        #expect(try await code { try await compartment.change(from: right, to: wrong) } == 3)
        #expect(try await code { try await compartment.set(SecretBytes([])) } == 9)
        #expect(try await code { try await compartment.set(SecretBytes(utf8: "short")) } == 14)
        #expect(try await code { try await compartment.set(SecretBytes([0xff])) } == 4)
        #expect(try await compartment.status().state == .none)
        try await compartment.set(right)
        #expect(try await code { try await compartment.set(wrong) } == 1)
        try await compartment.lock()
        #expect(try await code { try await compartment.unlock(by: wrong) } == 5)
        #expect(try await code { try await compartment.change(from: nil, to: wrong) } == 6)
        #expect(try await code { try await compartment.turnOff() } == 6)
        #expect(try await code { try await compartment.setPolicy(PasscodePolicy()) } == 6)
        for impossible in [[], [0x61, 0], [UInt8](repeating: 0x61, count: 257)] as [[UInt8]] {
            #expect(try await code { try await compartment.unlock(by: SecretBytes(impossible)) } == 4)
        }
        #expect(try await compartment.status().failures == 1)
        #expect(PasscodeError.wiped.number() == 5)
        #expect(PasscodeError.wiped.number(isExtended: true) == 16)
        #expect(try await vault.faults() == [])
    }

    // MARK: Tries

    @Test("the third wrong passcode erases what is behind it, also across restarts (SMP 32)")
    func retryLimit() async throws {
        var (vault, compartment) = try await bench.filled()
        var policy = PasscodePolicy()
        policy.retryLimit = 3
        try await compartment.setPolicy(policy)
        for left in [2, 1] {
            await #expect(throws: VaultError.passcode(.wrong(triesLeft: left))) {
                try await compartment.unlock(by: wrong)
            }
            await vault.close()
            (vault, compartment) = try await bench.open()
            #expect(try await compartment.status().triesLeft == left)
            bench.passWait()
        }
        await #expect(throws: VaultError.passcode(.wiped)) { try await compartment.unlock(by: wrong) }
        let status = try await compartment.status()
        #expect(status.state == .none && status.failures == 0 && status.open.isEmpty)
        #expect(try await vault.names(scope: "s").map(\.name) == ["always"])
        #expect(try await vault.readable() == [.always])
        #expect(try await vault.verify().faults == [])
        await vault.close()
        (vault, compartment) = try await bench.open()
        try await compartment.set(wrong)
        #expect(try await compartment.status().policy.retryLimit == 3)
    }

    @Test("a try that was counted and cut off is not given back (SMP 32)")
    func cutOff() async throws {
        let (vault, compartment) = try await bench.filled()
        var policy = PasscodePolicy()
        policy.retryLimit = 1
        try await compartment.setPolicy(policy)
        _ = try await vault.changeCompartment { state, _, _ in state.tries.count(at: .distantPast) }
        await #expect(throws: VaultError.passcode(.wiped)) { try await compartment.unlock(by: right) }
        #expect(try await vault.names(scope: "s").map(\.name) == ["always"])
    }

    @Test("without a limit nothing is ever erased, and the right passcode forgets wrong ones (SMP 32)")
    func noLimit() async throws {
        let (vault, compartment) = try await bench.filled()
        for number in 1...20 {
            bench.passWait()
            await #expect(throws: VaultError.passcode(.wrong(triesLeft: nil))) {
                try await compartment.unlock(by: wrong)
            }
            #expect(try await compartment.status().failures == number)
        }
        bench.passWait()
        try await compartment.unlock(by: right)
        #expect(try await compartment.status().failures == 0)
        #expect(try await vault.readable() == ProtectionLevel.allCases)
    }

    @Test("a passcode waits double after wrong passcodes and survive a restart, and an attempt too soon is not counted")
    func waits() async throws {
        var (vault, compartment) = try await bench.filled()
        for seconds in [1, 2, 4] {
            await #expect(throws: VaultError.passcode(.wrong(triesLeft: nil))) {
                try await compartment.unlock(by: wrong)
            }
            await vault.close()
            (vault, compartment) = try await bench.open()
            await #expect(throws: VaultError.passcode(.tooSoon(seconds: seconds))) {
                try await compartment.unlock(by: right)
            }
            #expect(try await compartment.status().waitSeconds == seconds)
            bench.pass(Double(seconds))
        }
        #expect(try await compartment.status().failures == 3)
        try await compartment.unlock(by: right)
    }

    @Test("a try is on the disk before the key is derived; others get busy meanwhile, and a lock ends it")
    func countedFirst() async throws {
        let (vault, compartment) = try await bench.filled()
        let held = HeldKey()
        async let holding = held.derived(from: [])
        await held.isHeld.pass()
        let attempt = Task { try await compartment.unlock(by: right) }
        while try await compartment.status().failures == 0 { await Task.yield() }
        await #expect(throws: VaultError.passcode(.busy)) { try await compartment.unlock(by: right) }
        await #expect(throws: VaultError.passcode(.busy)) { try await compartment.erase() }
        try await compartment.lock()
        held.letGo()
        _ = try await holding
        await #expect(throws: VaultError.levelLocked(path: bench.desk.path, level: .unlocked)) {
            try await attempt.value
        }
        #expect(try await vault.readable() == [.always, .firstUnlock])
        #expect(try await compartment.status().failures == 0)
    }

    // MARK: Changing

    @Test("a passcode is changed while open, or by the old one, and never to itself (SMP 36)")
    func change() async throws {
        let (vault, compartment) = try await bench.filled()
        let (new, newest) = (SecretBytes(utf8: "a new passcode"), SecretBytes(utf8: "the newest one"))
        #expect(try await code { try await compartment.change(from: nil, to: right) } == 4)
        #expect(try await code { try await compartment.change(from: nil, to: SecretBytes(utf8: "short")) } == 14)
        try await compartment.change(from: nil, to: new)
        try await compartment.lock()
        #expect(try await code { try await compartment.unlock(by: right) } == 5)
        bench.passWait()
        #expect(try await code { try await compartment.change(from: wrong, to: newest) } == 5)
        #expect(try await compartment.status().failures == 2)
        bench.passWait()
        #expect(try await code { try await compartment.change(from: new, to: new) } == 4)
        #expect(try await compartment.status().failures == 2)
        try await compartment.change(from: new, to: newest)
        #expect(try await vault.readable() == ProtectionLevel.allCases)
        await vault.close()
        let (again, same) = try await bench.open()
        #expect(try await code { try await same.unlock(by: new) } == 5)
        bench.passWait()
        try await same.unlock(by: newest)
        #expect(try await again.readable() == ProtectionLevel.allCases)
    }

    @Test("a change leaves nothing in the file that the old passcode opens (SMP 41)")
    func formerWraps() async throws {
        let (vault, compartment) = try await bench.filled()
        let former = try bench.desk.column("SELECT wrapped FROM key WHERE level = 'unlocked'")
        try await compartment.change(from: right, to: wrong)
        for suffix in ["", "-wal"] { #expect(try bench.desk.bytes(suffix).range(of: Data(former)) == nil) }
        await vault.close()
        try bench.desk.tamper("UPDATE key SET wrapped = ?1 WHERE level = 'unlocked'", .blob(former))
        let (_, again) = try await bench.open()
        #expect(try await code { try await again.unlock(by: right) } == 5)
        bench.passWait()
        #expect(try await code { try await again.unlock(by: wrong) } == 0)
    }

    @Test("an expired passcode opens nothing until it is changed (SMP 35)")
    func expiry() async throws {
        let (first, compartment) = try await bench.filled()
        var policy = PasscodePolicy()
        policy.expirationDays = 2
        try await compartment.setPolicy(policy)
        try await compartment.lock()
        bench.pass(2 * 86_400 - 1)
        try await compartment.unlock(by: right)
        await first.close()
        bench.pass(1)
        let (vault, again) = try await bench.open()
        for _ in 1...2 { #expect(try await code { try await again.unlock(by: right) } == 8) }
        #expect(try await code { try await again.unlock(by: wrong) } == 5)
        #expect(try await vault.readable() == [.always])
        bench.passWait()
        try await again.change(from: right, to: wrong)
        #expect(try await vault.readable() == ProtectionLevel.allCases)
        #expect(try await again.status().expires == bench.date.addingTimeInterval(2 * 86_400))
        try await again.unlock(by: wrong)
    }

    @Test("the default passcode is switched on and off, and the file cannot be read either way (SMP 34)")
    func defaultPasscode() async throws {
        var (vault, compartment) = try await bench.open()
        try await compartment.turnOff()
        #expect(try await compartment.status().state == .default)
        let content = "a content that is easy to find"
        try await vault.commit([.put(token, .token, SecretBytes(utf8: content), level: .unlocked)])
        try await compartment.lock()
        #expect(try await code { try await compartment.unlock(by: right) } == 3)
        await vault.close()
        (vault, compartment) = try await bench.open()
        #expect(try await vault.text(token) == content)

        try await compartment.set(right)
        try await compartment.lock()
        await #expect(throws: VaultError.levelLocked(path: bench.desk.path, level: .unlocked)) {
            try await vault.record(token)
        }
        try await compartment.turnOff(from: right)
        await vault.close()
        (vault, compartment) = try await bench.open()
        #expect(try await vault.text(token) == content)
        for suffix in ["", "-wal"] { #expect(try bench.desk.bytes(suffix).range(of: Data(content.utf8)) == nil) }
        var policy = PasscodePolicy()
        policy.isDefaultAllowed = false
        try await compartment.set(right, policy: policy)
        #expect(try await code { try await compartment.turnOff() } == 9)
        #expect(try await compartment.status().state == .set)
    }

    @Test("a state is read as it was written, and refused when truncated, prolonged or with impossible values")
    func stored() throws {
        var state = CompartmentState()
        state.policy.retryLimit = 3
        let key = try PasscodeKey.make(cost: lightCost, place: SecretBytes([1, 2]))
        for lock: CompartmentState.Lock in [
            .none, .defaultPasscode, .passcode(key, since: bench.date), .wiping(place: nil),
            .wiping(place: SecretBytes([3])),
        ] {
            state.lock = lock
            state.tries.count(at: bench.date)
            let bytes = state.encoded()
            #expect(CompartmentState(decoding: bytes) == state)
            for count in bytes.indices { #expect(CompartmentState(decoding: Array(bytes.prefix(count))) == nil) }
            #expect(CompartmentState(decoding: bytes + [0]) == nil)
        }
        for failures in [-1, Int(Int32.max) + 1] {
            state.tries.failures = failures
            #expect(CompartmentState(decoding: state.encoded()) == nil)
        }
        state.tries.failures = 0
        state.policy.minLength = 257
        #expect(CompartmentState(decoding: state.encoded()) == nil)
    }

    @Test("a derivation that would stop the board is refused", arguments: [1 << 17, 3, 0])
    func cost(n: Int) async throws {
        let (vault, compartment) = try await bench.filled()
        _ = try await vault.changeCompartment { [date = bench.date] state, _, _ in
            let scrypt = Passphrase.Parameters(
                cost: ScryptCost(n: n, r: 8, p: 1), salt: [UInt8](repeating: 1, count: 16))
            state.lock = .passcode(PasscodeKey(scrypt: scrypt, place: nil), since: date)
        }
        #expect(try await code { try await compartment.unlock(by: right) } == 0)
    }

    @Test("a state that was changed or put back is named, and the rest of the vault can be used (SMP 40)")
    func damaged() async throws {
        let (first, _) = try await bench.filled()
        let former = try bench.desk.column("SELECT sealed FROM record WHERE name = 'passcode-board'")
        _ = try await first.changeCompartment { state, _, _ in state.tries.count(at: .distantPast) }
        await first.close()
        try bench.desk.tamper("UPDATE record SET sealed = ?1 WHERE name = 'passcode-board'", .blob(former))
        let (vault, compartment) = try await bench.open()
        #expect(try await code { try await compartment.unlock(by: right) } == 0)
        #expect(try await code { try await compartment.set(right) } == 0)
        #expect(try await vault.readable() == [.always])
    }
}
