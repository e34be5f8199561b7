import Cryptography
import Groundwork
import HTTPClient
import OAuth
import Vault

/// Client initialization, E2 (MAG 3).
extension GatewaySession {
    /// Inside an operation.
    func initializeClient() async throws {
        events.send(.clientWillInitialize)
        do {
            killPoint("initialization-begun")
            let credentials = try await requestCredentials()
            killPoint("initialization-answered")
            var next = try await holdings()
            next.client = credentials
            try await commit(next)
            killPoint("initialization-committed")
            events.send(.clientDidInitialize(clientID: credentials.id, expires: credentials.authentication.expires))
        } catch let error as GatewayError {
            events.send(.clientDidFailToInitialize(error))
            throw error
        }
    }

    private func requestCredentials() async throws -> ClientCredentials {
        let masterID = configuration.masterClientID
        let form = FormBody([("client_id", masterID), ("nonce", try Random.uuid())])
        let request = try await request(
            "POST", .initialize,
            headers: [
                "Content-Type": FormBody.contentType, "Accept": "application/json",
                "device-id": DeviceIdentifier.header(try await deviceID()),
            ], body: form.bytes)
        var response = try await succeed(request, for: .initializeClient)
        defer { wipe(&response.body) }
        do {
            return try InitializationAnswer.credentials(response.body, masterID: masterID)
        } catch {
            throw GatewayError.unexpectedAnswer(.initializeClient, status: 200, reason: error.reason)
        }
    }

    /// The identifier of this installation, made and kept when there is none.
    func deviceID() async throws -> String {
        var next = try await holdings()
        if let deviceID = next.deviceID { return deviceID }
        let key = try await KeyMaker.shared.key(.p256)
        next.identifierKey = key
        try await commit(next)
        killPoint("identifier-committed")
        return DeviceIdentifier.text(of: key)
    }
}
