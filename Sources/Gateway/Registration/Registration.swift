import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth
import Vault

/// Registration (endpoints E4 and E5) and removal (E7); MAG 4.
struct Registration: Sendable {
    let store: HoldingsStore
    let exchange: GatewayExchange
    let keys: DeviceKeys
    let idTokens: IDTokens
    let board: DeviceDescription

    /// Registers the board, even if it waits for a person.
    ///
    /// - Parameter voucher: if it creates a session, the answer logs its user in.
    func register(
        by voucher: RegistrationVoucher = .client, userName: String? = nil, in operation: borrowing Operation
    ) async throws {
        let deviceID = try await keys.deviceID(in: operation)
        store.events.send(.deviceWillRegister(deviceID: deviceID))
        var sessionFault: GatewayError?
        do {
            let key = try await keys.pendingKey(in: operation)
            killPoint("registration-begun")
            let (device, session) = try await request(deviceID, key, voucher)
            killPoint("registration-answered")
            let user: HeldUser?
            (user, sessionFault) = try await self.user(of: session, on: device, userName)
            try await store.update(in: operation) {
                $0.device = device
                $0.pendingKey = nil
                $0.rest = nil
                if let user { $0.user = user }
            }
            killPoint("registration-committed")
            exchange.client.forgetConnections()
            try announce(device)
        } catch let error as GatewayError {
            if case .awaitingActivation = error { throw error }
            store.events.send(.deviceDidFailToRegister(error))
            throw error
        }
        if let sessionFault { throw sessionFault }
    }

    /// The user who authorized the registration.
    ///
    /// - Returns: the error if there is no session. The registration is valid nevertheless: its certificate is for this
    ///   board's key.
    private func user(
        of session: (value: SecretBytes, type: String)?, on device: Device, _ userName: String?
    ) async throws -> (user: HeldUser?, fault: GatewayError?) {
        guard let session else { return (nil, nil) }
        var holdings = try await store.holdings()
        holdings.device = device
        do {
            let idToken = try await idTokens.validated(session.value, type: session.type, holdings)
            return (
                HeldUser(name: userName, loggedInAt: store.clocks.date(), tokens: HeldTokens(id: idToken)), nil
            )
        } catch let error as GatewayError {
            return (nil, error)
        }
    }

    private func announce(_ device: Device) throws(GatewayError) {
        guard !device.isActive else {
            store.events.send(.deviceDidRegister(magIdentifier: device.magIdentifier))
            return
        }
        store.events.send(.deviceAwaitsActivation(magIdentifier: device.magIdentifier))
        throw .awaitingActivation(magIdentifier: device.magIdentifier)
    }

    private func request(
        _ deviceID: String, _ stored: StoredKey, _ voucher: RegistrationVoucher
    ) async throws -> (device: Device, session: (value: SecretBytes, type: String)?) {
        guard let credentials = try await store.holdings().client else { throw GatewayError.notRegistered }
        let registration = RegistrationRequest(
            deviceID: deviceID, device: board, organization: store.configuration.organization,
            credentials: credentials, voucher: voucher)
        let request = try await exchange.request(
            "POST", at: store.configuration.path(of: voucher.endpoint), headers: registration.headers,
            body: try await registration.body(for: stored.key))
        let response = try await exchange.succeed(request, for: .registerDevice)
        do {
            let answer = try CertificateAnswer.registration(response, for: stored.key.publicKey)
            let device = Device(
                key: stored.reference, chain: answer.chain, magIdentifier: answer.magIdentifier,
                isActive: answer.isActive,
                registeredAt: store.clocks.date())
            return (device, voucher.createsSession ? try CertificateAnswer.session(response) : nil)
        } catch {
            throw GatewayError.registrationAnswerInvalid(reason: error.reason)
        }
    }

    // MARK: Removal

    /// Removes the device at the gateway, then here. Unless the gateway answers 200, everything is kept (MAG checklist
    /// 44).
    func remove(in operation: borrowing Operation) async throws {
        guard try await store.holdings().device != nil else { throw GatewayError.notRegistered }
        store.events.send(.deviceWillDeregister)
        do {
            let request = try await exchange.request("DELETE", at: store.configuration.path(of: .remove))
            _ = try await exchange.succeed(request, for: .removeDevice)
        } catch let error as GatewayError {
            store.events.send(.deviceDidFailToDeregister(error))
            throw error
        }
        try await removeHere(in: operation)
        store.events.send(.deviceDidDeregister)
    }

    /// Removes everything here without notifying the gateway.
    func reset(in operation: borrowing Operation) async throws {
        try await removeHere(in: operation)
        store.events.send(.deviceDidResetLocally)
    }

    private func removeHere(in operation: borrowing Operation) async throws {
        try await store.removeAll(rest: .byPerson, in: operation)
        exchange.client.forgetConnections()
    }
}
