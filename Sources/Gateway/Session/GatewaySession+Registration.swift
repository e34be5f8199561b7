import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient

/// Registration E5 and removal E7 (gateway protocol 4).
extension GatewaySession {
    /// Registers because a person wants it, also after a removal or a withdrawal.
    public func register() async throws {
        try await flights.join(.register) {
            var next = try await self.holdings()
            guard next.rest != nil else { return }
            next.rest = nil
            try await self.commit(next)
        }
        try await ready()
    }

    /// Inside an operation. What is asked for is on disk before it is: a repetition after a lost answer uses the same
    /// identifier and the same key.
    func registerDevice() async throws {
        let deviceID = try await deviceID()
        events.send(.deviceWillRegister(deviceID: deviceID))
        do {
            let key = try await pendingKey()
            let device = try await requestRegistration(deviceID, key)
            var next = try await holdings()
            next.device = device
            next.pendingKey = nil
            try await commit(next)
            client.forgetConnections()
            try announce(device)
        } catch let error as GatewayError {
            if case .awaitingActivation = error { throw error }
            events.send(.deviceDidFailToRegister(error))
            throw error
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

    private func requestRegistration(_ deviceID: String, _ key: PrivateKey) async throws -> Device {
        guard let credentials = try await holdings().client else { throw GatewayError.notRegistered }
        let registration = RegistrationRequest(
            deviceID: deviceID, device: board, organization: configuration.organization, credentials: credentials)
        let request = try await request(
            "POST", .registerClient, headers: registration.headers, body: try registration.body(for: key))
        let response = try await succeed(request, for: .registerDevice)
        do {
            let answer = try CertificateAnswer.registration(response, for: key.publicKey)
            return Device(
                key: key, chain: answer.chain, magIdentifier: answer.magIdentifier, isActive: answer.isActive,
                registeredAt: clock())
        } catch {
            throw GatewayError.registrationAnswerInvalid(reason: error.reason)
        }
    }

    // MARK: Removal

    /// Removes the device at the gateway, then here (12.4, deregister). Unless the gateway says 200, everything is kept
    /// (checklist 44).
    ///
    /// - Throws: ``GatewayError``; ``GatewayError/notRegistered`` when there is nothing to remove.
    public func deregister() async throws {
        try await flights.join(.deregister) { try await self.noted { try await self.removeDevice() } }
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
        try await flights.join(.reset) {
            try await self.removeAllRecords(rest: .byPerson)
            self.client.forgetConnections()
            self.events.send(.deviceDidResetLocally)
        }
    }
}
