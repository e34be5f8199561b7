import HTTPClient

/// The parts of a session, which share one store; each does its work inside operations.
struct GatewayParts: Sendable {
    let store: HoldingsStore
    let exchange: GatewayExchange
    let initialization: ClientInitialization
    let idTokens: IDTokens
    let registration: Registration
    let renewal: Renewal
    let tokens: Tokens
    let users: Users
    let preparation: Preparation
    let locks: SessionLocks

    init(store: HoldingsStore, exchange: GatewayExchange, board: DeviceDescription, renewalWindow: Double) {
        self.store = store
        self.exchange = exchange
        let keys = DeviceKeys(store: store)
        idTokens = IDTokens(store: store, exchange: exchange)
        initialization = ClientInitialization(store: store, exchange: exchange, keys: keys)
        registration = Registration(store: store, exchange: exchange, keys: keys, idTokens: idTokens, board: board)
        renewal = Renewal(store: store, exchange: exchange, window: renewalWindow)
        tokens = Tokens(store: store, exchange: exchange, idTokens: idTokens)
        preparation = Preparation(
            store: store, initialization: initialization, registration: registration, renewal: renewal, tokens: tokens)
        users = Users(store: store, exchange: exchange, preparation: preparation)
        locks = SessionLocks(store: store, initialization: initialization, tokens: tokens)
    }
}
