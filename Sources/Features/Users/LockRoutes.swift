import AgentCore
import AgentGateway
import Cryptography
import Gateway
import Groundwork
import LocalAPI
import Prompts

/// The lock of the user's session.
extension LockFeature {
    func addLockRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/session/lock", needs: .read,
            .init("Whether the user's session is locked", answer: Self.lockSchema)
        ) { request in .json(try await self.lockState(of: try await self.gateways.account(of: request).session)) }
        router.on(
            "POST", "/v1/session/lock", needs: .operate,
            .init(
                "Lock the user's session with a passcode; the tokens are revoked, and nothing works in the user's name",
                body: ["passcode": Self.passcodeSchema], required: ["passcode"], answer: Self.lockSchema)
        ) { request in
            let session = try await self.gateways.account(of: request).session
            let changed = try await self.lock(session, by: try RequestBody(request).passcode())
            return .json(
                try await self.lockState(of: session, changed: changed, number: SessionLockNumber.alreadyLocked))
        }
        router.on(
            "DELETE", "/v1/session/lock", needs: .operate,
            .init("Give up a locked session; the user must log in again", answer: Self.lockSchema)
        ) { request in
            let session = try await self.gateways.account(of: request).session
            let changed = try await session.removeLock()
            return .json(
                try await self.lockState(of: session, changed: changed, number: SessionLockNumber.alreadyUnlocked))
        }
        router.on(
            "POST", "/v1/session/unlock", needs: .operate,
            .init(
                "Unlock the user's session; if a press of the board's button is required, waits for it",
                body: ["passcode": Self.passcodeSchema], required: ["passcode"], answer: Self.lockSchema)
        ) { request in
            let session = try await self.gateways.account(of: request).session
            let changed = try await self.unlock(session, by: try RequestBody(request).passcode())
            return .json(
                try await self.lockState(of: session, changed: changed, number: SessionLockNumber.alreadyUnlocked))
        }
        addPromptedLockRoutes(to: &router)
    }

    private func addPromptedLockRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/session/lock/prompted", needs: .operate,
            .init(
                "Lock the user's session with a passcode that prompts ask for; ends when its reader disconnects",
                body: ["answerers": Self.answerersSchema],
                events: ["prompt.*": .promptStep, "locked": Self.lockSchema])
        ) { request in
            let session = try await self.gateways.account(of: request).session
            let answerers = try RequestBody(request).answerers(of: request)
            return .events(
                LocalEvent.steps("locked") { step in
                    let changed = try await self.lockPrompted(session, answerers: answerers, step: step)
                    return try await self.lockState(
                        of: session, changed: changed, number: SessionLockNumber.alreadyLocked)
                })
        }
        router.on(
            "POST", "/v1/session/unlock/prompted", needs: .operate,
            .init(
                "Unlock the user's session with a passcode that a prompt asks for; ends when its reader disconnects",
                body: ["answerers": Self.answerersSchema],
                events: [
                    "prompt.*": .promptStep, "unlocked": Self.lockSchema,
                    "press-button": .object(all: ["text": .string("for a person")]),
                ])
        ) { request in
            let session = try await self.gateways.account(of: request).session
            let answerers = try RequestBody(request).answerers(of: request)
            return .events(
                LocalEvent.steps("unlocked") { step in
                    let changed = try await self.unlockPrompted(session, answerers: answerers, step: step)
                    return try await self.lockState(
                        of: session, changed: changed, number: SessionLockNumber.alreadyUnlocked)
                })
        }
    }

    /// - Parameters:
    ///   - changed: whether a request has changed it; `nil` if it only asks.
    ///   - number: that of a request that has not.
    private func lockState(
        of session: GatewaySession, changed: Bool? = nil, number: GatewayNumbers? = nil
    ) async throws -> JSON {
        var members: [String: JSON] = ["loggedIn": false, "locked": false]
        if let lock = try await session.lockStatus() {
            members = lock.json(host.settings.unlockPolicy).object ?? members
        } else if let user = try await session.user() {
            members.merge(user.json(at: host.time.now).object ?? [:]) { $1 }
        }
        if let changed {
            members["changed"] = .bool(changed)
            if !changed { members["gateway"] = number?.json }
        }
        return .object(members)
    }

    // MARK: Schemas

    private static var passcodeSchema: Schema {
        Schema.string("\(Passcode.length.lowerBound) to \(Passcode.length.upperBound) bytes; it is not kept")
            .asSensitive
    }

    private static var answerersSchema: Schema {
        .string(
            "who may answer: operators by default, or only the user who calls", choices: ["operators", "user"])
    }

    private static var lockSchema: Schema {
        let number = Schema.object(
            all: [
                "domain": .string("always local", choices: ["local"]),
                "number": .integer("number in the gateway's protocol"),
            ], "Only if nothing has changed")
        return .named(
            "SessionLock",
            .object(
                Schema.userMembers.merging([
                    "changed": .boolean("whether this request has changed it"), "gateway": number,
                ]) { own, _ in own }, required: ["loggedIn", "locked"]))
    }
}

extension RequestBody {
    /// - Throws: ``AgentError/badRequest(member:fault:)``, ``SessionLockError/passcodeInvalid``
    fileprivate func passcode() throws -> Passcode { try Passcode(SecretBytes(utf8: try string("passcode"))) }
}
