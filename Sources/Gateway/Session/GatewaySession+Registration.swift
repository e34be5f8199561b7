import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth
import Vault

/// Registration, E4 and E5, and removal E7 (MAG 4).
extension GatewaySession {
    /// Registers because a person wants it, also after a removal or a withdrawal.
    public func register() async throws {
        try await operations.join(.register) {
            var next = try await self.holdings()
            guard next.rest != nil else { return }
            next.rest = nil
            try await self.commit(next)
        }
        try await ready()
    }

    /// Inside an operation. What is asked for is on disk before it is: a repetition after a lost answer uses the same
    /// identifier and the same key.
    ///
    /// - Parameter voucher: a user who vouches is logged in by the answer, where that creates a session.
    func registerDevice(by voucher: RegistrationVoucher = .client, userName: String? = nil) async throws {
        let deviceID = try await deviceID()
        events.send(.deviceWillRegister(deviceID: deviceID))
        var sessionFault: GatewayError?
        do {
            let key = try await pendingKey()
            killPoint("registration-begun")
            let (device, session) = try await requestRegistration(deviceID, key, voucher)
            killPoint("registration-answered")
            var next = try await holdings()
            next.device = device
            next.pendingKey = nil
            next.rest = nil
            sessionFault = try await admit(session, to: &next, userName)
            try await commit(next)
            killPoint("registration-committed")
            client.forgetConnections()
            try announce(device)
        } catch let error as GatewayError {
            if case .awaitingActivation = error { throw error }
            events.send(.deviceDidFailToRegister(error))
            throw error
        }
        if let sessionFault { throw sessionFault }
    }

    /// Logs the user in who vouched.
    /// - Returns: why that cannot be. The registration stands nevertheless: its certificate is for this board's key.
    private func admit(
        _ session: (value: SecretBytes, type: String)?, to holdings: inout Holdings, _ userName: String?
    ) async throws -> GatewayError? {
        guard let session else { return nil }
        do {
            let idToken = try await validated(session.value, type: session.type, holdings)
            holdings.user = HeldUser(name: userName, loggedInAt: clock(), tokens: HeldTokens(id: idToken))
            return nil
        } catch let error as GatewayError {
            return error
        }
    }

    private func announce(_ device: Device) throws(GatewayError) {
        guard !device.isActive else {
            events.send(.deviceDidRegister(magIdentifier: device.magIdentifier))
            return
        }
        events.send(.deviceAwaitsActivation(magIdentifier: device.magIdentifier))
        throw .awaitingActivation(magIdentifier: device.magIdentifier)
    }

    private func pendingKey() async throws -> PrivateKey {
        var next = try await holdings()
        if let key = next.pendingKey { return key }
        let key = try await KeyMaker.shared.key(.rsa(bits: configuration.keyBits))
        next.pendingKey = key
        try await commit(next)
        return key
    }

    private func requestRegistration(
        _ deviceID: String, _ key: PrivateKey, _ voucher: RegistrationVoucher
    ) async throws -> (device: Device, session: (value: SecretBytes, type: String)?) {
        guard let credentials = try await holdings().client else { throw GatewayError.notRegistered }
        let registration = RegistrationRequest(
            deviceID: deviceID, device: board, organization: configuration.organization, credentials: credentials,
            voucher: voucher)
        let request = try await request(
            "POST", voucher.endpoint, headers: registration.headers, body: try registration.body(for: key))
        let response = try await succeed(request, for: .registerDevice)
        do {
            let answer = try CertificateAnswer.registration(response, for: key.publicKey)
            let device = Device(
                key: key, chain: answer.chain, magIdentifier: answer.magIdentifier, isActive: answer.isActive,
                registeredAt: clock())
            return (device, voucher.createsSession ? try CertificateAnswer.session(response) : nil)
        } catch {
            throw GatewayError.registrationAnswerInvalid(reason: error.reason)
        }
    }

    // MARK: Removal

    /// Removes the device at the gateway, then here (12.4, deregister). Unless the gateway says 200, everything is kept
    /// (MAG checklist 44).
    ///
    /// - Throws: ``GatewayError``; ``GatewayError/notRegistered`` when there is nothing to remove.
    public func deregister() async throws {
        try await operations.join(.deregister) { try await self.noted { try await self.removeDevice() } }
    }

    private func removeDevice() async throws {
        guard try await holdings().device != nil else { throw GatewayError.notRegistered }
        events.send(.deviceWillDeregister)
        do {
            _ = try await succeed(try await request("DELETE", .remove), for: .removeDevice)
        } catch let error as GatewayError {
            events.send(.deviceDidFailToDeregister(error))
            throw error
        }
        try await removeAllRecords(rest: .byPerson)
        client.forgetConnections()
        events.send(.deviceDidDeregister)
    }

    /// Removes everything of this gateway here except its configuration (12.4, local reset). The gateway is not told, so the
    /// next registration has a new device identifier.
    public func reset() async throws {
        try await operations.join(.reset) {
            try await self.removeAllRecords(rest: .byPerson)
            self.client.forgetConnections()
            self.events.send(.deviceDidResetLocally)
        }
    }
}
