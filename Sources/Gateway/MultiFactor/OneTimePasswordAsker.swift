/// Asks the person whose call it is for one-time passwords. The agent fills it: this module does not know how people
/// are asked.
public protocol OneTimePasswordAsker: Sendable {
    /// Asks how the password should be sent.
    ///
    /// - Parameters:
    ///   - choices: at least one; several channels at once are one choice.
    ///   - call: what the password is for.
    ///   - isRepeated: whether an earlier password was too old, so that the question is whether to send another.
    /// - Returns: one of the choices.
    /// - Throws: why the call ends, such as ``MultiFactorError/channelCancelled(by:)``.
    func channel(of choices: [String], for call: ChallengedCall, isRepeated: Bool) async throws -> String

    /// Asks for the password until it is taken.
    ///
    /// - Parameters:
    ///   - channel: how it was sent, if the gateway named a channel.
    ///   - check: tries a password at the gateway.
    /// - Throws: why the call ends, such as ``MultiFactorError/passwordCancelled(by:)``; what `check` throws.
    func password(
        for call: ChallengedCall, sentBy channel: String?,
        check: @escaping @Sendable (String) async throws -> OneTimePasswordVerdict
    ) async throws
}

/// What the gateway says to a password.
public enum OneTimePasswordVerdict: Sendable, Equatable {
    /// It is not asked for again.
    case settled
    /// - Parameter attemptsLeft: `nil` where the gateway does not say it.
    case wrong(attemptsLeft: Int?)
}
