import Cryptography
import Foundation
import Groundwork

/// E1: the configuration document in exchange for a one-time URL (MAG 1, 2).
extension GatewayCore {
    /// A URL that works once. Its `sessionData` is a JWS of the lab with claims of our own choice.
    mutating func mintEnrollmentURL(for master: MasterClient, now: Date) throws -> String {
        let ticket = EnrollmentTicket(
            jti: try Random.uuid(), master: master.clientID,
            expiresAt: now + TimeInterval(configuration.lives.enrollmentURL))
        state.sweep(now)
        state.tickets[ticket.jti] = ticket
        let claims: JSON = ["jti": .string(ticket.jti), "exp": .integer(ticket.expiresAt.epochSeconds)]
        let sessionData = try JWS.sign(claims.bytes, algorithm: .ES256, key: .key(authority.ticketKey), keyID: nil)
        // With escaped padding: one of the two known clients cannot read it otherwise.
        let hash = Base64.encode(authority.server.chain[0].spkiSHA256, alphabet: .urlSafe, padded: true)
        return "\(baseURL)\(Endpoint.enrollment.path)?sessionData=\(sessionData)&subjectKeyHash=\(percentEncoded(hash))"
    }

    /// A forged, used or expired URL is answered 400 with `x-ca-err: 132` (MAG checklist 46).
    mutating func enroll(_ request: WireRequest, now: Date) throws -> WireResponse {
        let refused = GatewayFault(
            132, "invalid_request",
            "The server configuration is invalid. Contact the administrator")
        guard let compact = Parameters(query: request.query)?["sessionData"],
            let token = try? JWS.Token(compact: compact), token.algorithm == .ES256,
            (try? token.verify(with: .key(authority.ticketKey.publicKey))) != nil,
            let jti = (try? JSON(parsing: token.payload))?["jti"]?.string,
            let ticket = state.tickets[jti], ticket.usedAt == nil, ticket.expiresAt > now,
            let master = configuration.masterClients.first(where: { $0.clientID == ticket.master })
        else { throw refused }
        state.tickets[jti]?.usedAt = now
        return .json(configurationDocument(for: master))
    }

    /// The `msso_config.json` of one client, which names the lab's endpoints (MAG 1.1).
    func configurationDocument(for master: MasterClient) -> JSON {
        let authorityLines = authority.certificate.pem.split(separator: "\n").map { JSON.string(String($0)) }
        let hash = authority.server.chain[0].spkiSHA256
        // In both forms: one client reads hexadecimal safely, the other only base64 (MAG quirk Q8).
        let pins: [JSON] =
            configuration.pinsServerKey
            ? [.string(Base64.encode(hash)), .string(Hex.encode(hash))] : []
        // With the segment that clients have to take off (MAG 11.1).
        var mas: [String: JSON] = [
            "scim-path": .string(Endpoint.scim.path), "mas-storage-path": .string(Endpoint.storage.path + "/Client"),
        ]
        if let brokerPort { mas["mqtt-port"] = .integer(Int64(brokerPort)) }
        return [
            "server": [
                "hostname": .string(configuration.host), "port": .integer(Int64(port)),
                "prefix": .string(configuration.prefix), "server_certs": [.array(authorityLines)],
            ],
            "oauth": [
                "client": [
                    "organization": .string(master.organization), "description": "Made by latchkey-lab",
                    "client_name": "latchkey", "client_type": "confidential", "registered_by": "lab",
                    "client_ids": [
                        [
                            "client_id": .string(master.clientID), "client_secret": .string(master.staticSecret ?? ""),
                            "scope": .string(master.scope), "redirect_uri": .string(master.redirectURI),
                            "environment": "ALL", "status": "ENABLED", "registered_by": "lab",
                            "client_key_custom": [
                                "openid_registration": [
                                    "response": [
                                        "id_token_signed_response_alg": .string(configuration.idTokenAlgorithm.rawValue)
                                    ]
                                ]
                            ],
                        ]
                    ],
                ],
                "system_endpoints": [
                    "authorization_endpoint_path": .string(Endpoint.authorization.path),
                    "token_endpoint_path": .string(Endpoint.token.path),
                    "token_revocation_endpoint_path": .string(Endpoint.revocation.path),
                    "usersession_logout_endpoint_path": .string(Endpoint.logout.path),
                    "usersession_status_endpoint_path": .string(Endpoint.sessionStatus.path),
                ],
                "oauth_protected_endpoints": ["userinfo_endpoint_path": .string(Endpoint.userinfo.path)],
            ],
            "mas": .object(mas),
            "mag": [
                "system_endpoints": Self.magEndpoints,
                "oauth_protected_endpoints": [
                    "enterprise_browser_endpoint_path": .string(Endpoint.enterpriseBrowser.path),
                    "device_list_endpoint_path": .string(Endpoint.deviceList.path),
                    "device_metadata_endpoint_path": .string(Endpoint.deviceMetadata.path),
                ],
                "mobile_sdk": [
                    "sso_enabled": true, "location_enabled": .bool(configuration.locationEnabled),
                    "location_provider": "network",
                    "msisdn_enabled": .bool(configuration.telephoneNumberEnabled),
                    "enable_public_key_pinning": .bool(configuration.pinsServerKey),
                    "trusted_public_pki": false, "trusted_cert_pinned_public_key_hashes": .array(pins),
                    "client_cert_rsa_keybits": 2048,
                ],
                "ble": [
                    "msso_ble_service_uuid": .string(configuration.proximity.service),
                    "msso_ble_characteristic_uuid": .string(configuration.proximity.characteristic),
                    "msso_ble_rssi": .integer(Int64(configuration.proximity.leastRSSI)),
                ],
            ],
            "custom": [
                "lab_hello_endpoint_path": .string(Endpoint.hello.path),
                "lab_echo_endpoint_path": .string(Endpoint.echo.path),
            ],
        ]
    }

    /// Both spellings of the path of E5, as the clients differ (MAG quirk Q1).
    private static let magEndpoints: JSON = [
        "device_register_endpoint_path": .string(Endpoint.registration.path),
        "device_client_register_endpoint_path": .string(Endpoint.clientRegistration.path),
        "device_register_client_endpoint_path": .string(Endpoint.clientRegistration.path),
        "device_renew_endpoint_path": .string(Endpoint.renewal.path),
        "device_remove_endpoint_path": .string(Endpoint.removal.path),
        "client_credential_init_endpoint_path": .string(Endpoint.clientInitialization.path),
        "authenticate_otp_endpoint_path": .string(Endpoint.oneTimePassword.path),
    ]
}
