import AgentCore
import Cryptography
import Groundwork
import LocalAPI
import Prompts
import Vault

/// The vault as persons and programs see it: locked or not, and its passcode.
extension PasscodeFeature {
    package func addRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/vault", needs: .read,
            .init("The sealed store and its passcode", answer: Self.vaultSchema)
        ) { _ in .json(try await self.state()) }
        router.on(
            "POST", "/v1/vault/lock", needs: .operate,
            .init("Lock what the board has of persons; its own work goes on", answer: Self.vaultSchema)
        ) { _ in
            try await self.desk.lock(.command)
            return .json(try await self.state())
        }
        router.on(
            "POST", "/v1/vault/lock/reset", needs: .operate,
            .init("Begin the time anew after which the passcode locks", answer: Self.vaultSchema)
        ) { _ in
            self.desk.watch.change { $0.timer.reset(at: PasscodeDesk.uptime) }
            return .json(try await self.state())
        }
        router.on(
            "POST", "/v1/vault/unlock", needs: .operate,
            .init(
                "Unlock what the board has of persons; each attempt is counted before it is made",
                body: ["passcode": Self.passcodeSchema], required: ["passcode"], answer: Self.vaultSchema)
        ) { request in
            try await self.desk.unlock(by: try RequestBody(request).secret("passcode"))
            return .json(try await self.state())
        }
        addForegroundRoute(to: &router)
        addPasscodeRoutes(to: &router)
        addPromptedRoutes(to: &router)
    }

    private func addForegroundRoute(to router: inout Router) {
        router.on(
            "GET", "/v1/vault/foreground", needs: .operate,
            .init(
                "Keep the passcode open for as long as this stream is read; it ends when the passcode is locked",
                events: ["open": Self.vaultSchema, "locked": Self.vaultSchema])
        ) { _ in .events(self.foreground()) }
    }

    private func foreground() -> AsyncThrowingStream<LocalEvent, any Error> {
        let events = host.events.subscribe(bound: 16)
        desk.watch.change { $0.timer.clientCame() }
        return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(4)) { continuation in
            let task = Task {
                do {
                    continuation.yield(LocalEvent(name: "open", data: try await self.state()))
                    for await event in events {
                        guard case .didLock = event.event as? PasscodeEvent else { continue }
                        continuation.yield(LocalEvent(name: "locked", data: try await self.state()))
                        break
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { [desk] _ in
                task.cancel()
                guard desk.watch.change({ $0.timer.clientWent(at: PasscodeDesk.uptime) }) else { return }
                // The level is closed whatever becomes of the rest, which the next call reports.
                Task { try? await desk.lock(.background) }
            }
        }
    }

    private func addPasscodeRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/vault/passcode", needs: .operate,
            .init(
                "Set the passcode, or change it: by the old one, unless that is unlocked",
                body: ["passcode": Self.passcodeSchema, "old": Self.passcodeSchema], required: ["passcode"],
                answer: Self.vaultSchema)
        ) { request in
            let body = RequestBody(request)
            try await self.desk.set(try body.secret("passcode"), from: try body.optionalSecret("old"))
            return .json(try await self.state())
        }
        router.on(
            "DELETE", "/v1/vault/passcode", needs: .operate,
            .init(
                "Switch the passcode off, once it is unlocked: what is behind it opens with the vault; for root and "
                    + "the agent's user",
                answer: Self.vaultSchema)
        ) { request in
            guard request.isOwner else { throw request.denied(.operate) }
            try await self.desk.turnOff()
            return .json(try await self.state())
        }
        router.on(
            "POST", "/v1/vault/passcode/policy", needs: .operate,
            .init(
                "Change rules for the passcode, once it is unlocked; those that are not named stay; for root and the "
                    + "agent's user",
                body: Self.policyMembers, answer: Self.vaultSchema)
        ) { request in
            guard request.isOwner else { throw request.denied(.operate) }
            let stored = try await self.desk.compartment.status().policy.json.object ?? [:]
            let rules = stored.merging(request.json.object ?? [:]) { $1 }
            let policy: PasscodePolicy
            do throws(PasscodeFault) {
                policy = try PasscodePolicy(.object(rules))
            } catch {
                throw PasscodePolicyError.invalid
            }
            try await self.desk.setPolicy(policy)
            return .json(try await self.state())
        }
        router.on(
            "POST", "/v1/vault/forgotten", needs: .operate,
            .init(
                "Erase everything behind the passcode, and the passcode; for root and the agent's user",
                answer: Self.vaultSchema)
        ) { request in
            guard request.isOwner else { throw request.denied(.operate) }
            try await self.desk.forget()
            return .json(try await self.state())
        }
    }

    func state() async throws -> JSON {
        let status = try await desk.compartment.status()
        return .object([
            "slot": .string(try await host.vault.openedBy().kind.rawValue),
            "passcode": PasscodeStatus.answer.json(status), "policy": status.policy.applied.json,
            "clients": .integer(Int64(desk.watch.read { $0.timer.clients })),
        ])
    }

    // MARK: Schemas

    private static let policyMembers: [String: Schema] = [
        "enabled": .boolean("whether these rules apply; else the defaults do"),
        "expiration_days": .integer("days until a passcode has to be changed, 0 to 36500; 0 for never"),
        "digits": .boolean("whether it needs a digit"), "lower": .boolean("whether it needs a lower-case letter"),
        "upper": .boolean("whether it needs an upper-case letter"),
        "special": .boolean("whether it needs what is neither a letter nor a digit"),
        "default_allowed": .boolean("whether it may be switched off"),
        "default_on": .boolean("whether it is switched off at first"),
        "lock_timeout": .integer("seconds without a client until it locks, 0 to 31622400; 0 for not by time"),
        "min_length": .integer("in characters, 0 to 256"),
        "min_unique": .integer("how many different characters, 0 to 256"),
        "retry_limit": .integer("wrong passcodes until everything behind it is erased, 0 to 1000; 0 for never"),
    ]

    static var vaultSchema: Schema {
        .named(
            "Vault",
            .object(all: [
                "slot": .string("kind of the slot that opened the store"),
                "passcode": PasscodeStatus.answer.schema("The passcode"),
                "policy": .object(all: policyMembers, "The rules that apply"),
                "clients": .integer("streams that keep it open"),
            ]))
    }

    private static var passcodeSchema: Schema { Schema.string("1 to 256 bytes; it is not kept").asSensitive }
}

extension RequestBody {
    fileprivate func secret(_ member: String) throws(AgentError) -> SecretBytes {
        SecretBytes(utf8: try string(member))
    }

    fileprivate func optionalSecret(_ member: String) throws(AgentError) -> SecretBytes? {
        try optionalString(member).map { SecretBytes(utf8: $0) }
    }
}
