import Cryptography
import Groundwork
import HTTPClient
import OAuth

/// The request for a registration at endpoint E4 or E5 (MAG 4.1 to 4.3). Pure.
struct RegistrationRequest {
    let deviceID: String
    let device: DeviceDescription
    let organization: String
    let credentials: ClientCredentials
    var voucher = RegistrationVoucher.client

    var subject: DistinguishedName {
        DistinguishedName([
            (.commonName, voucher.commonName), (.organizationalUnit, deviceID),
            (.domainComponent, device.modelComponent),
            (.organization, organization),
        ])
    }

    var headers: HTTPHeaders {
        var headers: HTTPHeaders = [
            "client-authorization": credentials.authentication.basic,
            "device-id": DeviceIdentifier.header(deviceID),
            "device-name": Base64.encode(device.name.utf8),
            "cert-format": "pem",
            "Content-Type": "text/plain",
            "Accept": "text/plain",
        ]
        voucher.add(to: &headers)
        return headers
    }

    /// The DER certificate request in base64url on one line, without padding.
    func body(for key: PrivateKey) async throws -> [UInt8] {
        let request = try await key.signing { [subject] in try CertificateRequest(subject: subject, key: key) }
        return Array(Base64.encode(request.der, alphabet: .urlSafe).utf8)
    }
}
