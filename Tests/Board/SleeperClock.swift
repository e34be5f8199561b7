import Board

extension ManualClock: SteadyClock {
    /// Moves to when the next sleeper wants to wake up.
    func moveToSleeper() async { move(to: await sleeper()) }
}
