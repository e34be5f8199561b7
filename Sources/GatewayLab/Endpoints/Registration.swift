import Cryptography
import Foundation
import Groundwork

/// E4 and E5: a device gets a certificate and a mag-identifier (MAG 4).
extension GatewayCore {
    /// The party that vouches for a registration.
    private enum Voucher: Equatable {
        case client
        case user(String)

        /// The common name in the request (MAG 4.1); `nil` means any.
        var user: String? { if case .user(let name) = self { name } else { nil } }
    }

    /// E5. `authorization` is neither required nor read.
    mutating func registerWithClient(_ request: WireRequest, now: Date) throws -> WireResponse {
        let client = try client(inHeader: "client-authorization", of: request, at: .clientRegistration, now: now)
        return try register(request, at: .clientRegistration, client: client, voucher: .client, now: now)
    }

    /// E4, by password, by an id_token, or by an authorization code, which has no `x-authorization-type`.
    mutating func registerWithUser(_ request: WireRequest, now: Date) throws -> WireResponse {
        let endpoint = Endpoint.registration
        let client = try client(inHeader: "client-authorization", of: request, at: endpoint, now: now)
        switch request.header("authorization").flatMap(Credentials.init(header:)) {
        case .basic(let name, let password):
            guard let user = user(named: name, password: password) else {
                throw GatewayFault(
                    endpoint.errorPrefix + 202, status: 401, "invalid_request",
                    "The given resource owner credentials were not valid")
            }
            return try register(request, at: endpoint, client: client, voucher: .user(user.name), now: now)
        case .bearer(let code) where request.header("x-authorization-type") == nil:
            let proof = CodeProof(
                code: code, redirectURI: request.header("redirect-uri"), verifier: request.header("code-verifier"))
            let user = try redeemForRegistration(proof, client: client, now: now)
            return try register(request, at: endpoint, client: client, voucher: .user(user), now: now)
        case .bearer(let token):
            guard request.header("x-authorization-type") == IDToken.type,
                let user = outsideUser(of: token, now: now)
                    ?? (try? session(ofIDToken: token, magIdentifier: nil, now: now).user)
            else {
                throw GatewayFault(endpoint.errorPrefix + 113, "invalid_grant", "The given grant is invalid")
            }
            return try register(request, at: endpoint, client: client, voucher: .user(user), now: now)
        case nil:
            throw GatewayFault(endpoint.errorPrefix + 103, "invalid_request", "The header authorization is missing")
        }
    }

    private mutating func register(
        _ request: WireRequest, at endpoint: Endpoint, client: ClientInstance, voucher: Voucher, now: Date
    ) throws -> WireResponse {
        let deviceID = try decodedHeader("device-id", of: request, at: endpoint)
        // It becomes part of the certificate's subject (RFC 5280 appendix A.1, ub-organizational-unit-name).
        guard deviceID.unicodeScalars.count <= 64 else {
            throw GatewayFault(
                endpoint.errorPrefix + 103, "invalid_request", "The device-id is longer than 64 characters")
        }
        let name = try decodedHeader("device-name", of: request, at: endpoint)
        guard request.header("cert-format").map({ $0.lowercased() == "pem" }) ?? true else {
            throw GatewayFault(endpoint.errorPrefix + 102, "invalid_request", "The only cert-format is pem")
        }
        let signingRequest = try signingRequest(in: request, at: endpoint, deviceID: deviceID, client: client)
        let earlier = try earlierRegistration(
            of: deviceID, publicKey: signingRequest.publicKey.spki, voucher: voucher, at: endpoint)
        let certificate: Certificate
        do {
            certificate = try authority.certify(
                signingRequest.publicKey, subject: signingRequest.subject, from: now,
                seconds: configuration.lives.deviceCertificate)
        } catch {
            // Only the parts from the request can be at fault: the rest is ours and has worked before.
            throw GatewayFault(
                endpoint.errorPrefix + 104, "invalid_request",
                "The certificate signing request cannot be certified: \(error)")
        }
        let device = LabDevice(
            magIdentifier: try earlier?.magIdentifier ?? Random.uuid(), deviceID: deviceID, name: name,
            user: voucher.user, clientID: client.clientID,
            status: earlier?.status ?? (configuration.activatesDevices ? .active : .pending),
            publicKey: signingRequest.publicKey.spki, certificateSerial: certificate.serialNumber,
            certificateEnds: certificate.notAfter, registeredAt: earlier?.registeredAt ?? now)
        var headers = [
            ("device-status", device.status == .active ? "activated" : "registered"),
            ("mag-identifier", device.magIdentifier),
        ]
        state.devices[device.magIdentifier] = device
        if request.header("create-session") == "true" {
            headers.append(("id-token", try newSession(for: device, user: voucher.user, client: client, now: now)))
            headers.append(("id-token-type", IDToken.type))
        }
        var response = WireResponse.text(certificate.pem, headers: headers)
        response.note = voucher.user.map { "\($0) registered \(name)" }
        return response
    }

    /// The registration that this one repeats.
    ///
    /// The sources do not say when a device is "already registered", nor how a repeated registration is answered.
    /// Here a board that lost the answer recovers: the same device, key and flow is answered again, with the same
    /// mag-identifier. Another key or flow counts as another device claiming the same name (UNVERIFIED, MAG 15.1).
    /// - Throws: a fault ending in 105
    private func earlierRegistration(
        of deviceID: String, publicKey: [UInt8], voucher: Voucher, at endpoint: Endpoint
    ) throws -> LabDevice? {
        guard let earlier = state.device(withID: deviceID) else { return nil }
        guard earlier.publicKey == publicKey, earlier.user == voucher.user else {
            throw GatewayFault(endpoint.errorPrefix + 105, "invalid_request", "The device has already been registered")
        }
        return earlier
    }

    /// The PKCS#10 request in the body, checked against the headers.
    ///
    /// Both clients' encodings are accepted, whatever the content type: base 64 of either alphabet, padded or not, in
    /// lines or not, and PEM (MAG quirk Q2, MAG checklist 48). The order of the subject's parts is free.
    /// - Throws: a fault ending in 104
    private func signingRequest(
        in request: WireRequest, at endpoint: Endpoint, deviceID: String, client: ClientInstance
    ) throws -> CertificateRequest {
        func invalid(_ text: String) -> GatewayFault {
            GatewayFault(endpoint.errorPrefix + 104, "invalid_request", "The certificate signing request \(text)")
        }
        guard let der = Self.signingRequestBytes(request.body) else { throw invalid("is not base64") }
        guard let signingRequest = try? CertificateRequest(der: der) else {
            throw invalid("is not PKCS#10, or its signature is invalid")
        }
        guard let modulus = signingRequest.publicKey.rsaModulus, modulus.drop(while: { $0 == 0 }).count >= 256 else {
            throw invalid("must be for an RSA key of 2048 bits or more")
        }
        let subject = signingRequest.subject
        // One client writes the identifier unchanged, the other its base64, percent-encoded (MAG 4.1).
        let encoded = Base64.encode(Array(deviceID.utf8))
        guard let unit = subject[.organizationalUnit], [deviceID, encoded, percentEncoded(encoded)].contains(unit)
        else {
            throw invalid("does not name the device of the header device-id")
        }
        guard subject[.organization] == master(of: client)?.organization else {
            throw invalid("does not name the client's organization")
        }
        guard subject[.commonName] != nil else { throw invalid("has no common name") }
        return signingRequest
    }

    static func signingRequestBytes(_ body: [UInt8]) -> [UInt8]? {
        let lines = String(decoding: body, as: UTF8.self).split(whereSeparator: \.isNewline).map(\.trimmed)
        let text = lines.filter { !$0.hasPrefix("-----") }.joined()
        guard !text.isEmpty else { return nil }
        return Base64.decode(text) ?? Base64.decode(text, alphabet: .urlSafe)
    }
}
