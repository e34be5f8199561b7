import FoundationEssentials
import OAuth

extension IDTokenValidation {
    /// The checks of MAG 5.5 (MAG checklist 22): beside what OpenID Connect demands, the token has to be for this device.
    init(client: ClientCredentials, magIdentifier: String, now: Date) {
        self.init(client: client.authentication, rules: [.text("azp", magIdentifier)], now: now)
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
