import Cryptography
import FoundationEssentials
import OAuth

extension IDTokenValidation {
    /// The signatures of a gateway (MAG 5.5).
    static let gatewayAlgorithms: Set<JWS.Algorithm> = [.HS256, .RS256]

    /// The checks of MAG 5.5 (MAG checklist 22): besides those of OpenID Connect, the token must be for this device.
    init(client: ClientCredentials, magIdentifier: String, now: Date) {
        self.init(
            client: client.authentication, rules: [.text("azp", magIdentifier)], now: now,
            algorithms: Self.gatewayAlgorithms)
    }
}

extension GatewayError {
    init(_ fault: IDTokenFault) {
        self =
            switch fault {
            case .malformed: .idTokenMalformed
            case .algorithmUnsupported: .idTokenAlgorithmUnsupported
            case .signatureInvalid: .idTokenSignatureInvalid
            case .expired: .idTokenExpired
            case .claimRefused("azp"): .idTokenForOtherDevice
            case .claimRefused: .idTokenForOtherClient
            }
    }
}
