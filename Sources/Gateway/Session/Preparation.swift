import Groundwork

/// Obtains what a protected call or a login needs, step by step (MAG 0.2). ``Holdings`` decides which step is next.
struct Preparation: Sendable {
    let store: HoldingsStore
    let initialization: ClientInitialization
    let registration: Registration
    let renewal: Renewal
    let tokens: Tokens

    /// The next step for a need, according to the current state.
    ///
    /// - Parameter last: the step just taken.
    func nextStep(for need: Need, after last: ChainStep? = nil) async throws -> NextStep {
        try await store.holdings().nextStep(for: need, after: last, at: store.clocks.now, renewal: renewal.terms)
    }

    /// The current state if it lacks nothing of a need.
    func state(readyFor need: Need) async throws -> HoldingsStore.State? {
        let state = try await store.state()
        return state.holdings.nextStep(for: need, at: store.clocks.now, renewal: renewal.terms) == .ready ? state : nil
    }

    /// - Throws: ``RefusedAttempt`` after it has recovered from a refusal.
    func prepare(for need: Need, in operation: borrowing Operation) async throws {
        try await recoveringFromRefusal(in: operation) {
            var last: ChainStep?
            while let step = try await nextStep(for: need, after: last).due() {
                try await take(step, for: need, in: operation)
                last = step
            }
        }
    }

    func take(_ step: ChainStep, for need: Need, in operation: borrowing Operation) async throws {
        switch step {
        case .clientCredentials: try await initialization.initialize(in: operation)
        case .registration: try await registration.register(in: operation)
        case .certificate: try await renewal.renewWhenDue(in: operation)
        case .accessToken: try await tokens.obtain(for: need, in: operation)
        }
    }

    // MARK: Recovery

    /// Runs work, and recovers from a refusal if possible.
    ///
    /// - Throws: ``RefusedAttempt`` after recovering, else what `work` throws.
    func recoveringFromRefusal(in operation: borrowing Operation, _ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch GatewayError.refused(let refusal) {
            switch try await store.holdings().next(after: refusal) {
            case .fail: throw GatewayError.refused(refusal)
            case .repeatWork: break
            case .recover(let recovery): try await recover(recovery, of: .board, in: operation)
            }
            throw RefusedAttempt(refusal: refusal)
        }
    }

    func recover(_ recovery: Recovery, of principal: Principal, in operation: borrowing Operation) async throws {
        switch recovery {
        case .dropAccessToken, .reinitializeClient:
            try await store.update(in: operation) { $0.apply(recovery, as: principal) }
        case .renewCertificate: try await renewal.renewAfterRefusal(in: operation)
        }
    }
}
