import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth

/// Client initialization, endpoint E2 (MAG 3).
struct ClientInitialization: Sendable {
    let store: HoldingsStore
    let exchange: GatewayExchange
    let keys: DeviceKeys

    /// Initializes the client unless it has valid credentials.
    func initializeWhenDue(in operation: borrowing Operation) async throws {
        let client = try await store.holdings().client
        if client?.authentication.isExpired(at: store.clocks.date()) ?? true { try await initialize(in: operation) }
    }

    func initialize(in operation: borrowing Operation) async throws {
        store.events.send(.clientWillInitialize)
        do {
            killPoint("initialization-begun")
            let credentials = try await requestCredentials(in: operation)
            killPoint("initialization-answered")
            try await store.update(in: operation) { $0.client = credentials }
            killPoint("initialization-committed")
            store.events.send(
                .clientDidInitialize(clientID: credentials.id, expires: credentials.authentication.expires))
        } catch let error as GatewayError {
            store.events.send(.clientDidFailToInitialize(error))
            throw error
        }
    }

    private func requestCredentials(in operation: borrowing Operation) async throws -> ClientCredentials {
        let masterID = store.configuration.masterClientID
        let form = FormBody([("client_id", masterID), ("nonce", try Random.uuid())])
        let request = try await exchange.request(
            "POST", at: store.configuration.path(of: .initialize),
            headers: [
                "Content-Type": FormBody.contentType, "Accept": "application/json",
                "device-id": DeviceIdentifier.header(try await keys.deviceID(in: operation)),
            ], body: form.bytes)
        var response = try await exchange.succeed(request, for: .initializeClient)
        defer { wipe(&response.body) }
        do {
            return try InitializationAnswer.credentials(response.body, masterID: masterID)
        } catch {
            throw GatewayError.unexpectedAnswer(.initializeClient, status: 200, reason: error.reason)
        }
    }
}

/// Parses the answer to client initialization. Pure.
enum InitializationAnswer {
    /// - Throws: the reason, without any values.
    static func credentials(_ body: [UInt8], masterID: String) throws(AnswerFault) -> ClientCredentials {
        let answer = try JSONAnswer(body)
        let id = try answer.requiredPlainText("client_id")
        let secret = try answer.requiredPlainText("client_secret")
        guard let expiration = answer["client_expiration"]?.seconds, expiration >= 0 else {
            throw AnswerFault("client_expiration is missing or not a number of seconds")
        }
        let authentication = ClientAuthentication(
            id: id, secret: SecretBytes(utf8: secret),
            expires: expiration == 0 ? nil : Date(timeIntervalSince1970: expiration))
        return ClientCredentials(masterID: masterID, authentication: authentication, isStatic: false)
    }
}
