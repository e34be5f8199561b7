/// Whether it is clear which question a press of the button means. Pure.
///
/// A press does not say which device it means. It does so only if a question has been the only one for a while: a press
/// may be meant for a question that has just left, or come before a person has seen that there is another one.
struct PressMeaning {
    /// How long a question has to be the only one.
    let solitude: Duration
    /// The earliest time when a press can grant again; `nil` while it is clear which question a press means.
    private(set) var ambiguousUntil: Duration?
    /// When a question last left the queue.
    private var lastGone: Duration?

    init(solitude: Duration) { self.solitude = solitude }

    var isClear: Bool { ambiguousUntil == nil }

    /// Another question came, or its requester was turned away.
    ///
    /// - Returns: whether it was clear until now.
    mutating func becomeAmbiguous(at now: Duration) -> Bool {
        defer { ambiguousUntil = now + solitude }
        return isClear
    }

    /// - Parameter waiting: the number of questions.
    /// - Returns: whether it becomes clear now.
    mutating func becomeClear(at now: Duration, waiting: Int) -> Bool {
        guard let until = ambiguousUntil, now >= until, waiting < 2 else { return false }
        ambiguousUntil = nil
        return true
    }

    /// The next question of the queue is asked, or there is none.
    ///
    /// - Returns: whether a press can mean another one.
    mutating func begin(at now: Duration, waiting: Int) -> Bool {
        ambiguousUntil = nil
        return waiting > 1 || waiting == 1 && lastGone.map { now - $0 < solitude } ?? false
    }

    /// A question left the queue. A remaining one must be the only one for a while from now.
    mutating func questionLeft(at now: Duration) {
        lastGone = now
        if !isClear { ambiguousUntil = now + solitude }
    }

    /// Whether a question has left the queue since `time`.
    func hasSeenQuestion(since time: Duration) -> Bool { lastGone.map { $0 >= time } ?? false }
}
