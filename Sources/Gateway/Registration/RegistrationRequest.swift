import Cryptography
import Groundwork
import HTTPClient

/// Registration by client credentials, E5: the request (gateway protocol 4.1 to 4.3). Pure.
struct RegistrationRequest {
    let deviceID: String
    let device: DeviceDescription
    let organization: String
    let credentials: ClientCredentials

    /// `CN` for registrations by client credentials (4.1).
    static let commonName = "clientName"

    var subject: DistinguishedName {
        DistinguishedName([
            (.commonName, Self.commonName), (.organizationalUnit, deviceID), (.domainComponent, device.modelComponent),
            (.organization, organization),
        ])
    }

    /// No `authorization` and no `create-session`: there is no user (checklist 13).
    var headers: HTTPHeaders {
        [
            "client-authorization": credentials.basic,
            "device-id": DeviceIdentifier.header(deviceID),
            "device-name": Base64.encode(device.name.utf8),
            "cert-format": "pem",
            "Content-Type": "text/plain",
            "Accept": "text/plain",
        ]
    }

    /// The DER certificate request in base64url on one line, without padding.
    func body(for key: PrivateKey) throws -> [UInt8] {
        let request = try CertificateRequest(subject: subject, key: key)
        return Array(Base64.encode(request.der, alphabet: .urlSafe).utf8)
    }
}
