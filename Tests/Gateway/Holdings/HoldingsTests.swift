import Cryptography
import Foundation
import GatewayLab
import Groundwork
import OAuth
import Testing
import Vault

@testable import Gateway

@Suite("Holdings of a session", .serialized, .timeLimit(.minutes(5)))
struct HoldingsTests {
    private let now = Moment(date: SampleHoldings.now, uptime: .zero)

    /// What would be on disk after these changes to an empty vault.
    private func records(_ holdings: Holdings) throws -> [String: SecretBytes] {
        var records: [String: SecretBytes] = [:]
        for change in HoldingsChanges(from: Holdings(), to: holdings, scope: "s").changes {
            guard let (name, content) = Self.written(by: change) else { continue }
            records[name.name] = content
        }
        return records
    }

    @Test("holdings of a session are read back as they were written, every part of them")
    func roundTrip() throws {
        let full = try SampleHoldings.full()
        let records = try records(full)
        #expect(
            Set(records.keys) == Set(HoldingsDocument.allCases.map(\.rawValue)).subtracting(["user-lock"]))
        let read = try HoldingsReader(records: records).holdings(at: now)
        #expect(HoldingsChanges(from: full, to: read, scope: "s").changes.isEmpty)
        #expect(read.references == full.references && read.identifierKey == full.identifierKey)
        #expect(
            read.device == full.device && read.device?.renewedChain == full.device?.renewedChain
                && read.rest == full.rest)
        #expect(read.board.access?.scope == "a b" && read.user?.tokens.id?.type == "other")
    }

    @Test("holdings of a locked session are read back, but no user beside it: there are never both")
    func locked() throws {
        let full = try SampleHoldings.full()
        var locked = full
        locked.user = nil
        locked.lock = SessionLock(
            userName: "alice", loggedInAt: now.date, lockedAt: now.date + 1, sessionEnds: now.date + 2,
            sealed: SealedSession(cost: ScryptCost(n: 2, r: 1, p: 1), salt: [1, 2], bytes: [3, 4, 255]),
            failures: 2, lastFailure: now.date + 3, leftOver: SecretBytes(utf8: "urt"))
        let changes = HoldingsChanges(from: full, to: locked, scope: "s").changes
        #expect(changes.count == 2, "one commit has both")
        var records = try records(locked)
        #expect(try HoldingsReader(records: records).holdings(at: now).lock == locked.lock)
        records.merge(try self.records(full)) { own, _ in own }
        let both = try HoldingsReader(records: records).holdings(at: now)
        #expect(both.lock == locked.lock && both.user == nil)
    }

    @Test("holdings of a log-in that nothing is left of belong to a board without a user")
    func withoutUser() throws {
        var full = try SampleHoldings.full()
        full.user?.tokens = HeldTokens()
        #expect(try HoldingsReader(records: records(full)).holdings(at: now).user == nil)
        full.user = nil
        let read = try HoldingsReader(records: records(full)).holdings(at: now)
        #expect(HoldingsChanges(from: full, to: read, scope: "s").changes.isEmpty)
    }

    private static func written(by change: Change) -> (name: RecordName, content: SecretBytes)? {
        switch change {
        case .put(let name, _, let content, _), .putPersonal(let name, _, let content): (name, content)
        case .remove: nil
        }
    }

    @Test("holdings are written only where they changed, a document for all that changes together")
    func difference() throws {
        let full = try SampleHoldings.full()
        func changed(_ change: (inout Holdings) -> Void) -> [String] {
            var next = full
            change(&next)
            return HoldingsChanges(from: full, to: next, scope: "s").changes.map { change in
                switch change {
                case .put(let name, _, _, _): name.name
                case .putPersonal(let name, _, _): "personal \(name.name)"
                case .remove(let name): "without \(name.name)"
                }
            }
        }
        #expect(changed { $0.board.access = nil } == ["board-tokens"])
        #expect(changed { $0.board = HeldTokens() } == ["without board-tokens"])
        #expect(changed { $0.user?.tokens.refresh = nil } == ["personal user-log-in"])
        #expect(changed { $0.user = nil } == ["without user-log-in"])
        #expect(changed { $0.device?.renewedChain = [] } == ["device"])
        #expect(changed { $0.device = nil } == ["without device"])
        #expect(changed { $0.pendingKey = nil } == ["device-identity"])
        #expect(changed { _ in }.isEmpty)
    }

    @Test("holdings leave a user alone whom the passcode hides, until one logs in, or the user is dropped")
    func hidden() throws {
        let full = try SampleHoldings.full()
        var hidden = full
        hidden.user = nil
        hidden.userFault = .levelLocked(path: "PATH", level: .unlocked)
        func count(_ old: Holdings, _ new: Holdings) -> Int {
            HoldingsChanges(from: old, to: new, scope: "s").changes.count
        }
        #expect(count(full, hidden) == 0)
        var next = hidden
        next[.user] = HeldTokens()
        next[.user].access = nil
        #expect(next.userFault != nil && count(hidden, next) == 0)
        #expect(throws: VaultError.levelLocked(path: "PATH", level: .unlocked)) { try next.requireUnlocked() }
        next.user = nil
        #expect(next.userFault == nil && count(hidden, next) == 1)
        next.user = full.user
        #expect(count(hidden, next) == 1)
        #expect(count(hidden, full) == 1)
    }

    @Test("holdings give up a key with the last reference to it")
    func droppedKeys() throws {
        let full = try SampleHoldings.full()
        func dropped(_ change: (inout Holdings) -> Void) -> Set<KeyReference> {
            var next = full
            change(&next)
            return HoldingsChanges(from: full, to: next, scope: "s").droppedKeys
        }
        #expect(dropped { $0.device = nil } == [SampleHoldings.deviceKey])
        #expect(dropped { $0 = Holdings() } == full.references)
        #expect(dropped { $0.board = HeldTokens() } == [])
        // The key of a registration that is answered goes on as the device's.
        var waiting = full
        waiting.device = nil
        var registered = full
        registered.device?.renewedChain = []
        waiting.pendingKey = SampleHoldings.deviceKey
        registered.pendingKey = nil
        #expect(HoldingsChanges(from: waiting, to: registered, scope: "s").droppedKeys == [])
    }

    @Test(
        "a changed device document is an error, and another changed document is absent",
        arguments: ["", "not JSON", "[]", "{}", #"{"certificates": "-----BEGIN CERTIFICATE-----"}"#])
    func damagedDocument(content: String) throws {
        let full = try SampleHoldings.full()
        for document in HoldingsDocument.allCases {
            var records = try records(full)
            records[document.rawValue] = SecretBytes(utf8: content)
            let reader = HoldingsReader(records: records)
            let fault: String? =
                switch document {
                case .device: "device contains no certificates"
                case .identity: "device-identity names no keys"
                default: nil
                }
            if let fault {
                #expect(throws: GatewayError.deviceRecordInvalid(reason: fault)) { try reader.holdings(at: now) }
                continue
            }
            let read = try reader.holdings(at: now)
            #expect(read.device == full.device && read.references == full.references)
            switch document {
            case .client: #expect(read.client == nil)
            case .boardTokens: #expect(read.board.isEmpty)
            case .user: #expect(read.user == nil)
            // Without a lock that can be opened, the session is the user's.
            case .lock: #expect(read.lock == nil && read.user == full.user)
            case .rest, .device, .identity: break
            }
        }
    }

    @Test("holdings of a refused client lose credentials and tokens, nothing else (MAG 12.4, …201)")
    func clearClient() throws {
        var holdings = try SampleHoldings.full()
        holdings.clearClient()
        #expect(holdings.client == nil && holdings.board.access == nil && holdings.board.refresh == nil)
        #expect(holdings.device != nil && holdings.board.id != nil && holdings.identifierKey != nil)
        #expect(holdings.user?.name == "alice" && holdings.user?.tokens.id != nil)
        #expect(holdings.user?.tokens.access == nil && holdings.user?.tokens.refresh == nil)
        holdings = try SampleHoldings.full()
        holdings.user?.tokens.id = nil
        holdings.clearClient()
        #expect(holdings.user == nil, "nothing is left of the log-in")
    }

    @Test("holdings lose the same for another master client, nothing for the same (MAG 12.4, MAG checklist 7)")
    func adopt() throws {
        var holdings = try SampleHoldings.full()
        holdings.adopt(try GatewayConfiguration(parsing: Documents.document()))
        #expect(holdings.client != nil && holdings.board.access != nil)
        holdings.adopt(
            try GatewayConfiguration(
                parsing: Documents.document { $0.set("oauth.client.client_ids.0.client_id", to: "other") }))
        #expect(holdings.client == nil && holdings.board.access == nil && holdings.board.refresh == nil)
        #expect(holdings.device != nil && holdings.board.id != nil)
    }
}
