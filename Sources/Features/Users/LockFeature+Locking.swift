import AgentCore
import AgentGateway
import AgentNearby
import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI
import Messaging
import Prompts
import Proximity
import Vault

/// Locks and unlocks sessions of users, with what proves that a person is there.
extension LockFeature {
    /// How often a person may correct a passcode that is being set.
    private static let corrections = 3
    /// How long each answer may take.
    private static let patience = Duration.seconds(180)
    /// A wait up to this, in seconds, is waited for while a prompt is open.
    private static let longestWait = 10

    /// - Parameter date: when the user logged in whose session is to be locked; `nil` for the current user.
    /// - Returns: whether this call has locked it.
    /// - Throws: ``SessionLockError``, `GatewayError.userRequired`, what the vault throws
    func lock(
        _ session: GatewaySession, by passcode: Passcode, loggedInAt date: Date? = nil
    ) async throws -> Bool {
        try checkButton()
        let changed = try await session.lock(by: passcode, loggedInAt: date)
        // Before the answer: callers rely on it that no program gets the user's messages any more.
        for account in await gateways.table.all where account.session === session {
            await account.link.work?.userWasLocked()
        }
        return changed
    }

    /// - Parameters:
    ///   - date: when the user logged in whose session is to be unlocked; `nil` for the one that is locked now.
    ///   - onWait: called when a press of the button is waited for.
    /// - Returns: whether this call has unlocked it.
    /// - Throws: ``SessionLockError``, `GatewayError.userRequired`, what the vault throws
    func unlock(
        _ session: GatewaySession, by passcode: Passcode, loggedInAt date: Date? = nil,
        onWait: @Sendable () -> Void = {}
    ) async throws -> Bool {
        let current = try await session.lockStatus()?.loggedInAt
        guard let date = date ?? current else { return false }
        guard try await session.isLocked(loggedInAt: date) else { return false }
        // Fails before prompting if the answer could not be used.
        try await session.requireUnlockDue(host.settings.unlockPolicy)
        if host.settings[LockSettings.self].needsButton {
            try checkButton()
            try await awaitPress(onWait)
        }
        return try await session.unlock(by: passcode, host.settings.unlockPolicy, loggedInAt: date)
    }

    /// Checks that what unlocking requires is there, so that nothing is locked for good.
    ///
    /// - Throws: ``SessionLockError/noButton``
    private func checkButton() throws {
        guard !host.settings[LockSettings.self].needsButton || host.board.button != nil else {
            throw SessionLockError.noButton
        }
    }

    /// - Throws: ``SessionLockError``, `CancellationError`
    private func awaitPress(_ onWait: @Sendable () -> Void) async throws {
        let patience = Duration.seconds(host.settings.proximity.consentSeconds)
        switch await nearby.desk.awaitPress(patience: patience, onWait: onWait) {
        case .pressed: return
        case .refused: throw SessionLockError.buttonRefused
        case .ambiguous: throw SessionLockError.buttonAmbiguous
        case .busy: throw SessionLockError.buttonBusy
        case .notPressed:
            try Task.checkCancellation()
            throw SessionLockError.buttonNotPressed
        }
    }

    // MARK: By prompts

    /// Locks by a passcode that prompts ask for, twice.
    func lockPrompted(
        _ session: GatewaySession, answerers: PromptQuestion.Answerers, step: @escaping @Sendable (LocalEvent) -> Void
    ) async throws -> Bool {
        guard try await session.lockStatus() == nil else { return false }
        try checkButton()
        try await session.requireLockable()
        guard let user = try await session.user() else { throw GatewayError.userRequired }
        let name = DisplayText.clean(user.userName ?? "the user")
        let first = try await askPasscode("New passcode for the session of \(name)", answerers, step: step) {
            .right($0)
        }
        let passcode = try await askPasscode("The same passcode again", answerers, step: step) { again in
            let isSame = again == first
            return isSame ? .right(again) : .wrong(SessionLockError.passcodesDiffer, fault: "the two differ")
        }
        // Another user may have logged in meanwhile.
        return try await lock(session, by: try Passcode(passcode), loggedInAt: user.loggedInAt)
    }

    /// Unlocks by a passcode that a prompt asks for.
    func unlockPrompted(
        _ session: GatewaySession, answerers: PromptQuestion.Answerers, step: @escaping @Sendable (LocalEvent) -> Void
    ) async throws -> Bool {
        guard let lock = try await session.lockStatus() else { return false }
        let left = max(host.settings.unlockPolicy.attempts - lock.failures, 1)
        let text = "Passcode for the session of \(DisplayText.clean(lock.userName ?? "the user"))"
        return try await askPasscode(text, answerers, attempts: left, step: step) { answer in
            do {
                return .right(
                    try await self.unlockAfterWait(
                        session, by: try Passcode(answer), loggedInAt: lock.loggedInAt, step: step))
            } catch let error as SessionLockError {
                switch error {
                // The prompt itself says how many attempts are left.
                case .passcodeWrong: return .wrong(error, fault: "the passcode is wrong")
                case .passcodeInvalid: return .wrong(error, fault: error.message)
                default: throw error
                }
            }
        }
    }

    private func unlockAfterWait(
        _ session: GatewaySession, by passcode: Passcode, loggedInAt date: Date,
        step: @escaping @Sendable (LocalEvent) -> Void
    ) async throws -> Bool {
        @Sendable func askPress() {
            step(LocalEvent(name: "press-button", data: ["text": "press the board's button"]))
        }
        let wait: Int
        do {
            return try await unlock(
                session, by: passcode, loggedInAt: date, onWait: askPress)
        } catch SessionLockError.tooSoon(let seconds) {
            guard seconds <= Self.longestWait else { throw SessionLockError.tooSoon(seconds: seconds) }
            wait = seconds
        }
        try await Task.sleep(for: .seconds(wait))
        return try await unlock(
            session, by: passcode, loggedInAt: date, onWait: askPress)
    }

    private func askPasscode<Value: Sendable>(
        _ text: String, _ answerers: PromptQuestion.Answerers, attempts: Int = corrections,
        step: @escaping @Sendable (LocalEvent) -> Void,
        judge: @Sendable (SecretBytes) async throws -> PromptVerdict<Value>
    ) async throws -> Value {
        @Sendable func report(_ event: PromptEvent) {
            step(LocalEvent(name: event.report.name, data: .object(event.report.fields)))
        }
        let question = PromptQuestion(.lockPasscode, text, answerers: answerers, attempts: attempts)
        return try await host.prompts.ask(question, patience: Self.patience) {
            report(.asked($0))
        } check: { answer, prompt, answerer in
            report(.answered(prompt, by: answerer))
            guard case .text(let passcode) = answer else { throw CancellationError() }
            do throws(SessionLockError) {
                _ = try Passcode(passcode)
            } catch {
                return .wrong(error, fault: error.message)
            }
            return try await judge(passcode)
        }
    }

    // MARK: Left-over tokens

    /// Has gateways revoke what they could not when sessions were locked, as soon as they can be reached.
    func revokeLeftOverTokens(after events: AsyncStream<AgentEvent>) async {
        for await event in events {
            guard event.reachesGateway else { continue }
            for account in await gateways.table.all { try? await account.session.revokeLeftOverTokens() }
        }
    }
}

extension AgentEvent {
    fileprivate var reachesGateway: Bool {
        if let event = ofBoard(GatewayEvent.self, at: nil) { return event.consequences.contains(.gatewayIsReached) }
        if case .connected = ofBoard(MessengerEvent.self, at: nil) { return true }
        return false
    }
}
