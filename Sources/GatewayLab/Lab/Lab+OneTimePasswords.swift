import Foundation
import Groundwork

/// One-time passwords: where they are demanded, and what was sent.
extension Lab {
    public func oneTimePasswordPolicy() async -> OneTimePasswordPolicy {
        await store.read { $0.oneTimePasswords.policy }
    }

    /// Changes where and how one-time passwords are demanded.
    public func demandOneTimePasswords(
        at endpoints: Set<Endpoint>, _ change: @Sendable (inout OneTimePasswordPolicy) -> Void = { _ in }
    ) async throws {
        let policy = try await store.change { core in
            change(&core.oneTimePasswords.policy)
            core.oneTimePasswords.policy.endpoints = endpoints
            core.oneTimePasswords.opened = [:]
            return core.oneTimePasswords.policy
        }
        let names = policy.endpoints.map(\.rawValue).sorted().joined(separator: ", ")
        journal.record(
            .lab, names.isEmpty ? "no one-time passwords demanded" : "one-time passwords demanded at \(names)",
            at: clock.now)
    }

    /// What was sent, ordered by its owners.
    public func oneTimePasswords() async -> [LabOneTimePassword] {
        await store.read { $0.oneTimePasswords.sent.values.sorted { $0.owner < $1.owner } }
    }
}

/// The same for the admin API.
extension AdminAPI {
    /// `{"endpoints": ["L1"], "channels": ["SMS"], "life_seconds": 300, "tries": 3, "suspension_seconds": 100,
    /// "remembers_seconds": 0}`: absent members keep their values, but no endpoint means nowhere.
    /// - Throws: ``BadInput``
    func demandOneTimePasswords(_ input: JSON) async throws -> JSON {
        var endpoints: Set<Endpoint> = []
        for name in input["endpoints"]?.array ?? [] {
            guard let endpoint = name.string.flatMap(Endpoint.init(rawValue:)), endpoint != .oneTimePassword,
                !endpoint.isOfMPin
            else {
                throw BadInput(text: "endpoints must be names such as L1; latchkey-lab fault names lists them")
            }
            endpoints.insert(endpoint)
        }
        var policy = await lab.oneTimePasswordPolicy()
        if let channels = input["channels"], channels != .null {
            let names = channels.array?.compactMap(\.string) ?? []
            guard !names.isEmpty, Set(names).isSubset(of: OneTimePasswordPolicy.allChannels) else {
                throw BadInput(
                    text: "channels must be some of \(OneTimePasswordPolicy.allChannels.joined(separator: ", "))")
            }
            policy.channels = names
        }
        for (name, member, range) in [
            ("life_seconds", \OneTimePasswordPolicy.life, 1...86_400), ("tries", \.tries, 1...20),
            ("suspension_seconds", \.suspension, 1...86_400), ("remembers_seconds", \.remembers, 0...86_400),
        ] as [(String, WritableKeyPath<OneTimePasswordPolicy, Int>, ClosedRange<Int64>)] {
            guard let value = input[name], value != .null else { continue }
            guard let number = value.integer, range.contains(number) else {
                throw BadInput(text: "\(name) must be a number from \(range.lowerBound) to \(range.upperBound)")
            }
            policy[keyPath: member] = Int(number)
        }
        let wanted = policy
        try await lab.demandOneTimePasswords(at: endpoints) { $0 = wanted }
        return [:]
    }

    /// With the passwords: the lab's administrator plays the mail and the telephone.
    func oneTimePasswords() async -> JSON {
        .array(
            await lab.oneTimePasswords().map { sent in
                [
                    "user": .string(sent.owner), "password": sent.password.map(JSON.string) ?? .null,
                    "channels": .array(sent.channels.map(JSON.string)),
                    "expires_at": .integer(sent.expiresAt.epochSeconds), "tries_left": .integer(Int64(sent.triesLeft)),
                    "barred_until": sent.barredUntil.map { .integer($0.epochSeconds) } ?? .null,
                ]
            })
    }
}
