import Foundation

/// Where requests meet what the lab remembers: one at a time, and kept on disk before they are answered.
actor GatewayDesk {
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

    /// Changes what is remembered, or nothing if it cannot be kept.
    func change<Result: Sendable>(_ body: (inout GatewayCore) throws -> Result) throws -> Result {
        var changed = core
        let result = try body(&changed)
        if changed.state != core.state { try keeper?.save(changed.state) }
        core = changed
        return result
    }

    func read<Result: Sendable>(_ body: (GatewayCore) throws -> Result) rethrows -> Result { try body(core) }
}
