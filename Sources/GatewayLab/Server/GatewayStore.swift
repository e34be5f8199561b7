import Foundation

/// The lab's state: handles requests one at a time, and saves changes to disk before answering.
actor GatewayStore {
    private var core: GatewayCore
    private let keeper: StateKeeper?
    let clock: LabClock

    init(core: GatewayCore, keeper: StateKeeper?, clock: LabClock) {
        self.core = core
        self.keeper = keeper
        self.clock = clock
    }

    /// - Throws: `LabError.cannotKeep`; the state is then as before.
    func answer(_ request: WireRequest, at endpoint: Endpoint) throws -> WireResponse {
        try change { $0.answer(request, at: endpoint, now: clock.now) }
    }

    /// Changes the state, or nothing if it cannot be saved.
    func change<Result: Sendable>(_ body: (inout GatewayCore) throws -> Result) throws -> Result {
        var changed = core
        let result = try body(&changed)
        if changed.state != core.state { try keeper?.save(changed.state) }
        core = changed
        return result
    }

    /// Whether a browser has come for its log-in with M-Pin.
    func hasReleased(_ browser: String) -> Bool { core.mpin.browsers[browser]?.isReleased ?? true }

    func read<Result: Sendable>(_ body: (GatewayCore) throws -> Result) rethrows -> Result { try body(core) }
}
