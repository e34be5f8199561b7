import Cryptography
import Foundation
import Groundwork

/// Checks of the caller that several endpoints make.
extension GatewayCore {
    /// The client with these credentials: one initialized by E2, or a master client with a static secret.
    /// - Throws: a fault ending in 201, with status 401.
    func client(id: String?, secret: String?, at endpoint: Endpoint, now: Date) throws -> ClientInstance {
        let unknown = GatewayFault(
            endpoint.errorPrefix + 201, status: 401, "invalid_client",
            "The given client credentials were not valid")
        guard let id, let secret else { throw unknown }
        if let instance = state.instances[id] {
            guard !instance.hasEnded(now), equalInConstantTime(Array(instance.secret.utf8), Array(secret.utf8)) else {
                throw unknown
            }
            return instance
        }
        guard let master = configuration.masterClients.first(where: { $0.clientID == id }),
            let expected = master.staticSecret, equalInConstantTime(Array(expected.utf8), Array(secret.utf8))
        else { throw unknown }
        return ClientInstance(clientID: id, secret: expected, master: id, deviceID: "", expiresAt: nil)
    }

    /// The client that `header` authenticates with Basic.
    func client(inHeader header: String, of request: WireRequest, at endpoint: Endpoint, now: Date) throws
        -> ClientInstance
    {
        guard case .basic(let name, let password)? = request.header(header).flatMap(Credentials.init(header:)) else {
            throw GatewayFault(
                endpoint.errorPrefix + 201, status: 401, "invalid_client",
                "The header \(header) must contain Basic credentials of the client")
        }
        return try client(id: name, secret: password, at: endpoint, now: now)
    }

    func master(of client: ClientInstance) -> MasterClient? {
        configuration.masterClients.first { $0.clientID == client.master }
    }

    /// The device named by `mag-identifier`, if it may be served at all.
    ///
    /// - Parameter missing: last digits of the error if the header is absent.
    /// - Throws: a fault ending in 107 for an unknown device or one that shows another device's certificate, in 108
    ///   for one that is not active yet, in 206 with status 401 for one whose certificate has expired (MAG checklist
    ///   55).
    func device(of request: WireRequest, at endpoint: Endpoint, missing: Int, now: Date) throws -> LabDevice {
        guard let magIdentifier = request.header("mag-identifier") else {
            throw GatewayFault(
                endpoint.errorPrefix + missing, "invalid_request", "The header mag-identifier is missing")
        }
        let device = try device(magIdentifier, at: endpoint)
        guard device.status == .active else {
            throw GatewayFault(endpoint.errorPrefix + 108, "invalid_request", "The device is not active")
        }
        if let shown = try request.certificate.map(Certificate.init(der:)) {
            guard shown.publicKey.spki == device.publicKey else {
                throw GatewayFault(
                    endpoint.errorPrefix + 107, "invalid_request",
                    "The client certificate does not belong to the device")
            }
            // Each certificate counts by itself: a renewed device may still show its old one.
            guard shown.notAfter > now else { throw ended(at: endpoint) }
        } else if device.certificateEnds <= now {
            throw ended(at: endpoint)
        }
        return device
    }

    func device(_ magIdentifier: String, at endpoint: Endpoint) throws -> LabDevice {
        guard let device = state.devices[magIdentifier] else {
            throw GatewayFault(
                endpoint.errorPrefix + 107, "invalid_request",
                "The given mag-identifier is either invalid or points to an unknown device")
        }
        return device
    }

    func ended(at endpoint: Endpoint) -> GatewayFault {
        GatewayFault(endpoint.errorPrefix + 206, status: 401, "invalid_request", "The client certificate has expired")
    }

    func user(named name: String, password: String) -> LabUser? {
        configuration.users.first { user in
            user.name == name && equalInConstantTime(Array(user.password.utf8), Array(password.utf8))
        }
    }

    /// The form in the body.
    /// - Throws: a fault ending in 103 if the body is not a form, or has a name twice.
    func form(of request: WireRequest, at endpoint: Endpoint) throws -> Parameters {
        guard let form = Parameters(form: request.body), !form.hasDuplicates else {
            throw GatewayFault(
                endpoint.errorPrefix + 103, "invalid_request",
                "The body is not a form, or has a parameter more than once")
        }
        return form
    }

    /// A header in base 64, decoded (MAG 4.3).
    /// - Throws: a fault ending in 103
    func decodedHeader(_ name: String, of request: WireRequest, at endpoint: Endpoint) throws -> String {
        guard let value = request.header(name), let bytes = Base64.decode(value),
            let text = String(validating: bytes, as: UTF8.self)?.trimmed, !text.isEmpty, text.utf8.count <= 256
        else {
            throw GatewayFault(
                endpoint.errorPrefix + 103, "invalid_request",
                "The header \(name) is missing or is not base64 of a text")
        }
        return text
    }
}

extension LabUser {
    /// Given name and family name.
    var fullName: String { "\(givenName) \(familyName)" }
}
