import Cryptography
import Foundation
import Groundwork

/// E6 and E7: a device renews or removes its own registration, authenticated by its certificate (MAG 4.6, 4.7).
extension GatewayCore {
    /// E6: a new certificate for the same key, without a request to sign (MAG checklist 58).
    ///
    /// The certificate shown may have expired: renewal is the client's reaction to an `x-ca-err` ending in 206.
    mutating func renew(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.renewal
        var (device, shown) = try certifiedDevice(
            of: request, at: endpoint, withoutCertificate: 101, withoutHeader: 103)
        guard device.status == .active else {
            throw GatewayFault(endpoint.errorPrefix + 108, "invalid_request", "The device is not active")
        }
        guard request.header("cert-format").map({ $0.lowercased() == "pem" }) ?? true else {
            throw GatewayFault(endpoint.errorPrefix + 102, "invalid_request", "The only cert-format is pem")
        }
        let certificate = try authority.certify(
            shown.publicKey, subject: shown.subject, from: now, seconds: configuration.lives.deviceCertificate)
        device.certificateSerial = certificate.serialNumber
        device.certificateEnds = certificate.notAfter
        state.devices[device.magIdentifier] = device
        return .text(certificate.pem, headers: [("mag-identifier", device.magIdentifier)])
    }

    /// E7: removes the device, its tokens and its sessions (MAG checklist 59).
    mutating func remove(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.removal
        let (device, shown) = try certifiedDevice(
            of: request, at: endpoint, withoutCertificate: 103, withoutHeader: 101)
        guard shown.notAfter > now else { throw ended(at: endpoint) }
        removeDevice(device.magIdentifier)
        return WireResponse(status: 200, headers: [("Cache-Control", "no-store"), ("Pragma", "no-cache")])
    }

    /// Removes a device with its sessions and tokens.
    mutating func removeDevice(_ magIdentifier: String) {
        state.devices[magIdentifier] = nil
        state.services?.metadata[magIdentifier] = nil
        state.sessions = state.sessions.filter { $0.value.magIdentifier != magIdentifier }
        state.revokeTokens { mag, _ in mag == magIdentifier }
    }

    /// The device that both the header and the certificate name (MAG checklist 57).
    private func certifiedDevice(
        of request: WireRequest, at endpoint: Endpoint, withoutCertificate: Int, withoutHeader: Int
    ) throws -> (LabDevice, Certificate) {
        guard let magIdentifier = request.header("mag-identifier") else {
            throw GatewayFault(
                endpoint.errorPrefix + withoutHeader, "invalid_request",
                "The header mag-identifier is missing")
        }
        let device = try device(magIdentifier, at: endpoint)
        guard let shown = try request.certificate.map(Certificate.init(der:)) else {
            throw GatewayFault(
                endpoint.errorPrefix + withoutCertificate, "invalid_request",
                "A TLS client certificate is required")
        }
        guard shown.publicKey.spki == device.publicKey else {
            throw GatewayFault(
                endpoint.errorPrefix + 107, "invalid_request",
                "The client certificate does not belong to the device")
        }
        return (device, shown)
    }
}
