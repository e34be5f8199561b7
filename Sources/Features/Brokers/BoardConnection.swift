import AgentCore
import AgentMessages
import Groundwork
import Messaging

/// The broker of an account, to which the board's messages go.
struct AccountBrokerAccess: BrokerAccess {
    let login: BrokerLogin

    private var account: BrokerAccount { login.account }

    static func scope(of name: String) -> String { "broker:" + name }

    var scope: String { Self.scope(of: account.name) }
    var addresses: [BrokerAddress] { account.addresses }
    var way: BrokerWaySettings { login.way }
    var reportsErrors: Bool { false }
    var isStopped: Bool { false }

    func topics(of device: String) throws -> TopicNamespace {
        try TopicNamespace(template: account.topics, deviceID: device)
    }

    func credentials(of device: String, at broker: BrokerAddress) async throws -> BrokerCredentials {
        try await login.credentials(at: broker)
    }

    func credentialsWereRefused() async { login.tokenWasRefused() }

    func didConnect() async {}
}

/// Keeps the board's messages going to the broker of an account, from its making to its end.
final class BoardConnection: Sendable {
    let keeper: BrokerSessionKeeper
    /// Open once messages are accepted, or it is known why they are not.
    let settled = AsyncGate()
    private let work: Task<Void, Never>

    init(_ account: BrokerAccount, _ name: AccountName, _ host: Host) {
        let access = AccountBrokerAccess(login: BrokerLogin(account, host))
        let (keeper, settled) = (BrokerSessionKeeper(scope: access.scope, account: name, host: host), settled)
        self.keeper = keeper
        let service = Restarting {
            host.report(ServiceEvent.failed("broker account \(name)", $0, retryAfter: $1), of: name)
        } body: {
            do {
                guard !account.clientID.isEmpty else { throw BrokerError.clientIDMissing(account.name) }
                var companions: [BrokerSessionKeeper.Companion] = []
                if case .token = account.secret {
                    companions.append { try await Self.renewToken(at: keeper, access.login) }
                }
                try await keeper.run(
                    as: account.device, at: access, beside: companions, isReady: { settled.open() },
                    isFormer: { false })
            } catch {
                await keeper.didFail(error)
                settled.open()
                throw error
            }
        }
        work = Task { await service.run() }
    }

    /// Has the connection made anew before the token ends with which it was made: the broker would end it.
    private static func renewToken(at keeper: BrokerSessionKeeper, _ login: BrokerLogin) async throws {
        guard let messenger = await keeper.brokerSession?.messenger else { return }
        var events = messenger.events.subscribe().makeAsyncIterator()
        while true {
            if let left = login.tokenLifeLeft {
                let pause = max(left - .seconds(45), left / 2, .seconds(5))
                try await Task.sleep(for: pause)
                // Unless another connection has begun with another token meanwhile.
                guard let now = login.tokenLifeLeft, now < left - pause / 2 else { continue }
                await messenger.reconnect()
            }
            var isConnected = false
            while !isConnected {
                // Ends in a canceled task.
                guard let event = await events.next() else { return }
                if case .connected = event { isConnected = true }
            }
        }
    }

    func end() async {
        work.cancel()
        await work.value
    }
}
