import Cryptography
import Groundwork
import TestSupport
import Testing

@testable import Vault

@Suite("Passcode against a model")
struct PasscodeModelTests {
    private static let limit = 4
    private static let passcodes = ["passcode one", "passcode two", "short"]

    private enum Step: CustomStringConvertible {
        case set(String)
        case change(from: String?, to: String)
        case turnOff(from: String?)
        case unlock(String)
        case lock, restart, write

        init(_ chance: inout Chance) {
            let (one, other) = (passcodes.randomElement(using: &chance)!, passcodes.randomElement(using: &chance)!)
            let old = chance.happens(0.5) ? other : nil
            switch Int.random(in: 0..<12, using: &chance) {
            case 0, 1: self = .set(one)
            case 2, 3: self = .change(from: old, to: one)
            case 4: self = .turnOff(from: old)
            case 5, 6, 7: self = .unlock(one)
            case 8: self = .lock
            case 9, 10: self = .restart
            default: self = .write
            }
        }

        var description: String {
            switch self {
            case .set(let passcode): "set \(passcode)"
            case .change(let old, let new): "change \(old ?? "-") to \(new)"
            case .turnOff(let old): "turn off \(old ?? "-")"
            case .unlock(let passcode): "unlock \(passcode)"
            case .lock: "lock"
            case .restart: "restart"
            case .write: "write"
            }
        }
    }

    /// What a compartment does, in a few words.
    private struct Model {
        var state = PasscodeStatus.State.none
        var passcode = ""
        var failures = 0
        var open: Set<ProtectionLevel> = []
        var hasRecords = false

        private static let all = Set(ProtectionLevel.behindPasscode)

        /// - Returns: the number of the error.
        mutating func apply(_ step: Step) -> Int? {
            switch step {
            case .set(let passcode):
                guard state != .set else { return 1 }
                guard passcode.count >= 8 else { return 14 }
                (state, self.passcode, failures, open) = (.set, passcode, 0, Self.all)
            case .change(let old, let new):
                guard state == .set else { return 3 }
                guard new.count >= 8 else { return 14 }
                if let number = need(old, new: new) { return number }
                guard new != passcode else { return 4 }
                (passcode, failures, open) = (new, 0, Self.all)
            case .turnOff(let old):
                if state == .set, let number = need(old, new: nil) { return number }
                if state != .default { failures = 0 }
                (state, open) = (.default, Self.all)
            case .unlock(let passcode):
                guard state == .set else { return 3 }
                if let number = attempt(passcode) { return number }
                open = Self.all
            case .lock:
                if state != .default { open.remove(.unlocked) }
            case .restart: open = state == .default ? Self.all : []
            case .write:
                guard state != .none else { return 3 }
                guard open == Self.all else { return 6 }
                hasRecords = true
            }
            return nil
        }

        private mutating func need(_ old: String?, new: String?) -> Int? {
            guard let old else { return open.contains(.unlocked) ? nil : 6 }
            return old == new ? 4 : attempt(old)
        }

        private mutating func attempt(_ passcode: String) -> Int? {
            guard passcode != self.passcode else {
                failures = 0
                return nil
            }
            failures += 1
            if failures == limit { (state, failures, open, hasRecords) = (.none, 0, [], false) }
            return 5
        }
    }

    /// - Returns: the number of the error.
    private func apply(_ step: Step, _ vault: Vault, _ compartment: Compartment) async throws -> Int? {
        do {
            try await run(step, vault, compartment)
            return nil
        } catch let error as VaultError {
            switch error {
            case .passcode(let error): return error.number()
            case .levelLocked: return 6
            default: throw error
            }
        }
    }

    private func run(_ step: Step, _ vault: Vault, _ compartment: Compartment) async throws {
        switch step {
        case .set(let passcode): try await compartment.set(SecretBytes(utf8: passcode))
        case .change(let old, let new):
            try await compartment.change(from: old.map(Self.secret), to: SecretBytes(utf8: new))
        case .turnOff(let old): try await compartment.turnOff(from: old.map(Self.secret))
        case .unlock(let passcode): try await compartment.unlock(by: SecretBytes(utf8: passcode))
        case .lock: try await compartment.lock()
        case .restart: break
        case .write:
            try await vault.commit(
                ProtectionLevel.behindPasscode.map {
                    .put(PasscodeBench.record($0), .token, SecretBytes(utf8: $0.rawValue), level: $0)
                })
        }
    }

    private static func secret(_ text: String) -> SecretBytes { SecretBytes(utf8: text) }

    @Test("any sequence of steps has the results of a simple model (SMP 30 to 41)", arguments: 0..<8)
    func sequences(_ round: Int) async throws {
        let bench = try PasscodeBench()
        var (chance, model, done) = (Chance(), Model(), [String]())
        var (vault, compartment) = try await bench.open()
        var policy = PasscodePolicy()
        policy.retryLimit = Self.limit
        try await compartment.setPolicy(policy)
        for _ in 0..<60 {
            let step = Step(&chance)
            done.append("\(step)")
            let comment = Comment("SEED=\(chance.seed): \(done.joined(separator: ", "))")
            bench.passWait()
            if case .restart = step {
                await vault.close()
                (vault, compartment) = try await bench.open()
                #expect(try await !compartment.finishWiping(), comment)
            }
            let expected = model.apply(step)
            try #require(try await apply(step, vault, compartment) == expected, comment)
            let status = try await compartment.status()
            try #require(status.state == model.state && status.failures == model.failures, comment)
            try #require(status.open == model.open, comment)
            try #require(try await vault.names(scope: "s").count == (model.hasRecords ? 2 : 0), comment)
            let readable = Set(try await vault.readable())
            try #require(readable == (model.hasRecords ? model.open : []), comment)
        }
        #expect(try await vault.verify().faults == [])
    }
}
