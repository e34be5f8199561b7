import Groundwork

/// Asks before something that cannot be undone.
enum Confirmation {
    /// - Parameters:
    ///   - consequence: what will happen, as the beginning of a sentence: "this removes …".
    ///   - isGiven: whether the command has `--yes`.
    /// - Throws: ``Declined``; ``UsageError/unconfirmed(consequence:)`` if there is no terminal to ask at.
    static func ask(_ consequence: String, isGiven: Bool) throws {
        guard !isGiven else { return }
        guard Terminal.inputIsTerminal else { throw UsageError.unconfirmed(consequence: consequence) }
        Input.dropTyped()
        let answer = Input.answer(
            to: "\(consequence.prefix(1).uppercased())\(consequence.dropFirst()). Continue? [y/N] ")
        guard ["y", "yes"].contains(answer?.lowercased()) else { throw Declined() }
    }
}
