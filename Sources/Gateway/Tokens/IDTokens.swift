import Cryptography
import Groundwork
import HTTPClient
import OAuth
import Synchronization

/// Validates id_tokens, with the gateway's published keys if needed (MAG 5.5).
final class IDTokens: Sendable {
    private let store: HoldingsStore
    private let exchange: GatewayExchange
    private let published = Mutex<KeySet?>(nil)

    init(store: HoldingsStore, exchange: GatewayExchange) {
        self.store = store
        self.exchange = exchange
    }

    /// - Parameter holdings: the client and the device that it must be for.
    func validated(_ value: SecretBytes, type: String, _ holdings: Holdings) async throws -> HeldIDToken {
        guard type == HeldIDToken.jwtBearer else { return HeldIDToken(value: value, type: type, expires: nil) }
        guard let client = holdings.client, let device = holdings.device else { throw GatewayError.notRegistered }
        let compact = value.exposedText()
        do {
            var keys: KeySet?
            let verifies = exchange.options.verifiesIDTokens
            let algorithms = IDTokenValidation.gatewayAlgorithms
            if verifies, let id = try IDTokenValidation.neededKey(compact, algorithms: algorithms) {
                keys = try await self.keys(having: id)
            }
            var validation = IDTokenValidation(
                client: client, magIdentifier: device.magIdentifier, now: store.clocks.date())
            validation.verifiesSignature = verifies
            return HeldIDToken(value: value, type: type, expires: try validation.validate(compact, keys: keys))
        } catch let fault as IDTokenFault {
            throw GatewayError(fault)
        }
    }

    /// The published keys, downloaded again once if the needed one is missing (MAG checklist 23).
    private func keys(having id: String) async throws -> KeySet {
        if let known = published.withLock({ $0 }), known[id] != nil { return known }
        let keys = try await fetch()
        remember(keys)
        return keys
    }

    /// Downloads the published keys before one is needed.
    func preload() async throws { remember(try await fetch()) }

    func remember(_ keys: KeySet) { published.withLock { $0 = keys } }

    private func fetch() async throws -> KeySet {
        let discovery = try await exchange.succeed(
            exchange.publicRequest("GET", GatewayEndpoint.discoveryPath).request, for: .discover)
        let address: String
        do {
            address = try ServerMetadata(discovery.body).required(.keys)
        } catch {
            throw GatewayError.unexpectedAnswer(.discover, status: 200, reason: error.reason)
        }
        let response = try await exchange.succeed(exchange.publicRequest("GET", address).request, for: .fetchKeys)
        do {
            return try KeySet(response.body)
        } catch {
            throw GatewayError.unexpectedAnswer(.fetchKeys, status: 200, reason: error.reason)
        }
    }
}
