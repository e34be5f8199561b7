import Cryptography
import Foundation
import Groundwork
import TestSupport

@testable import Messaging
@testable import Vault

/// A vault and an outbox at work on a disk whose power goes, and what has to be found in them afterwards.
struct Stores {
    private(set) var accepted = 0
    private(set) var sentAgain = 0
    private(set) var unknownFound = 0
    private(set) var commits = 0
    private(set) var rewraps = 0
    private(set) var lastError: String?

    private let disk: String
    private let keys: [DevelopmentKeyFile]
    /// Segments of 16 KiB, so that many are begun, removed and written anew.
    private static let policy = OutboxPolicy(limitBytes: 1 << 20)
    private static let names = (0..<6).map { RecordName(scope: "gateway:443/", name: "record \($0)") }

    /// Messages accepted and not known to have left, by their number.
    private var waiting: [Int64: String] = [:]
    /// Those that the broker acknowledged, whose removal may have come too late.
    private var acknowledged: [Int64: String] = [:]
    /// The call under way when the power went.
    private var offered: [String] = []
    private var counter = 0
    /// What each pair of records holds, and what was being written.
    private var held: [Int: Int] = [:]
    private var writing: (pair: Int, value: Int)?
    private var isMade = false
    /// The keys that may open the vault: one, or both while it was wrapped anew.
    private var fitting = [0]

    init(disk: String, keys folder: String) {
        self.disk = disk
        keys = ["a", "b"].map { DevelopmentKeyFile("\(folder)/\($0).key") }
    }

    // MARK: Until the power goes

    /// Works until something fails, which only the power may bring about.
    mutating func work(_ chance: inout Chance) async {
        var (outbox, vault): (Outbox?, Vault?)
        do {
            vault = try await Vault.open(at: "\(disk)/vault.db", with: fitting.map { keys[$0] }, creating: !isMade)
            isMade = true
            outbox = try await Outbox.open(at: "\(disk)/outbox.db", policy: Self.policy)
            try await outbox?.rewind(arrival: nil)
            while let vault, let outbox {
                switch Int.random(in: 0..<10, using: &chance) {
                case 0..<5: try await accept(Int.random(in: 1...4, using: &chance), by: outbox, &chance)
                case 5..<7: try await send(Int.random(in: 1...8, using: &chance), from: outbox)
                case 7..<9: try await commit(to: vault, &chance)
                default: try await rewrap(vault)
                }
            }
        } catch {
            lastError = "\(error)"
        }
        await outbox?.close()
        await vault?.close()
    }

    private mutating func accept(_ count: Int, by outbox: Outbox, _ chance: inout Chance) async throws {
        offered = (0..<count).map {
            "message \(counter + $0) " + String(repeating: "x", count: Int.random(in: 0...900, using: &chance))
        }
        counter += count
        let ids = try await outbox.accept(
            try offered.map {
                OutgoingMessage(
                    topic: try Topic("a/\($0.count % 5)"), payload: Array($0.utf8), qos: .atLeastOnce, retain: false,
                    kind: .explicit)
            })
        for (id, message) in zip(ids, offered) { waiting[id] = message }
        accepted += count
        offered = []
    }

    /// Sends so many to a broker that has them at once.
    private mutating func send(_ count: Int, from outbox: Outbox) async throws {
        let page = try await outbox.next(limit: count, bytes: .max)
        let ids = page.messages.map(\.id)
        for id in ids { acknowledged[id] = waiting.removeValue(forKey: id) }
        try await outbox.acknowledge(ids)
    }

    private mutating func commit(to vault: Vault, _ chance: inout Chance) async throws {
        let pair = Int.random(in: 0..<3, using: &chance)
        counter += 1
        writing = (pair, counter)
        // Two records in one commit: never one without the other.
        try await vault.commit(Self.names(of: pair).map { .put($0, .state, SecretBytes(utf8: "value \(counter)")) })
        held[pair] = counter
        writing = nil
        commits += 1
    }

    private mutating func rewrap(_ vault: Vault) async throws {
        let new = 1 - fitting[0]
        fitting.append(new)
        try await vault.rewrap(slot: try await vault.openedBy().id, with: keys[new])
        fitting = [new]
        rewraps += 1
    }

    private static func names(of pair: Int) -> ArraySlice<RecordName> { names[2 * pair...2 * pair + 1] }

    // MARK: Afterwards

    /// - Returns: what is not as it has to be.
    mutating func check() async -> [String] {
        do {
            return try await checkVault() + checkOutbox()
        } catch {
            return ["\(error)"]
        }
    }

    private mutating func checkVault() async throws -> [String] {
        guard isMade else { return [] }
        var faults: [String] = []
        var opening: [Int] = []
        for key in fitting {
            do {
                let vault = try await Vault.open(at: "\(disk)/vault.db", with: [keys[key]], creating: false)
                opening.append(key)
                faults += try await vault.faults().map(\.message)
                for pair in 0..<3 { faults += try await check(pair, in: vault) }
                await vault.close()
            } catch VaultError.noSlotOpens where fitting.count == 2 {
                continue
            }
        }
        if opening.count != 1 { faults.append("\(opening.count) keys open the vault") }
        fitting = opening
        writing = nil
        return faults
    }

    private mutating func check(_ pair: Int, in vault: Vault) async throws -> [String] {
        var values: Set<Int?> = []
        for name in Self.names(of: pair) {
            values.insert(
                try await vault.record(name)?.content.exposedText().split(separator: " ").last.flatMap { Int($0) })
        }
        guard values.count == 1, let value = values.first else { return ["a commit is there by half: \(values)"] }
        if value == held[pair] { return [] }
        guard let writing, writing.pair == pair, value == writing.value else {
            return ["pair \(pair) has \(value ?? 0) and not \(held[pair] ?? 0)"]
        }
        held[pair] = value
        return []
    }

    private mutating func checkOutbox() async throws -> [String] {
        let outbox = try await Outbox.open(at: "\(disk)/outbox.db", policy: Self.policy)
        var faults: [String] = []
        let status = await outbox.status()
        if let setAside = status.setAside { faults.append("set aside: \(setAside)") }
        try await outbox.rewind(arrival: nil)
        let found = try await outbox.next(limit: .max, bytes: .max).messages
        if found.count != status.depth { faults.append("\(found.count) messages, and a depth of \(status.depth)") }
        if found.map(\.id) != found.map(\.id).sorted() { faults.append("out of order") }
        var unknown: [String] = []
        for message in found {
            let text = String(decoding: message.message.payload, as: UTF8.self)
            if waiting.removeValue(forKey: message.id) == text { continue }
            if acknowledged[message.id] == text { sentAgain += 1 } else { unknown.append(text) }
        }
        if !waiting.isEmpty { faults.append("lost: \(waiting.keys.sorted())") }
        // All of the call whose answer never came, or nothing.
        if !unknown.isEmpty {
            if unknown != offered { faults.append("unknown: \(unknown.count) of \(offered.count)") }
            unknownFound += unknown.count
        }
        // They leave now, so that what waits stays small.
        waiting = [:]
        acknowledged = Dictionary(
            uniqueKeysWithValues: found.map { ($0.id, String(decoding: $0.message.payload, as: UTF8.self)) })
        offered = []
        try await outbox.acknowledge(found.map(\.id))
        await outbox.close()
        return faults
    }
}
