import Groundwork
import HTTPClient

extension GatewayError: Explained {
    public var code: String { "gateway." + name }

    private var name: String {
        switch self {
        case .configurationMissing: "configuration-missing"
        case .configurationUnreadable: "configuration-unreadable"
        case .configurationInvalid: "configuration-invalid"
        case .enrollmentURLInvalid: "enrollment-url-invalid"
        case .enrollmentURLWithoutKeyHash: "enrollment-url-without-key-hash"
        case .enrollmentKeyHashInvalid: "enrollment-key-hash-invalid"
        case .enrollmentKeyMismatch: "enrollment-key-mismatch"
        case .noActiveGateway: "no-active-gateway"
        case .hostNotConfigured: "host-not-configured"
        case .hostConfigurationInvalid: "host-configuration-invalid"
        case .pathInvalid: "path-invalid"
        case .noAnswer: "no-answer"
        case .unexpectedAnswer: "unexpected-answer"
        case .refused(let refusal): refusal.meaning.rawValue
        case .locationDemanded: "location-demanded"
        case .telephoneNumberDemanded: "telephone-number-demanded"
        case .notRegistered: "not-registered"
        case .awaitingActivation: "awaiting-activation"
        case .registrationAnswerInvalid: "registration-answer-invalid"
        case .registrationWithdrawn: "registration-withdrawn"
        case .deviceRecordInvalid: "device-record-invalid"
        case .renewedCertificateRefused: "renewed-certificate-refused"
        case .tokenAnswerInvalid: "token-answer-invalid"
        case .noGrantApplies: "no-grant-applies"
        case .scopeNotGranted: "scope-not-granted"
        case .idTokenMalformed: "id-token-malformed"
        case .idTokenAlgorithmUnsupported: "id-token-algorithm-unsupported"
        case .idTokenSignatureInvalid: "id-token-signature-invalid"
        case .idTokenExpired: "id-token-expired"
        case .idTokenForOtherClient: "id-token-for-other-client"
        case .idTokenForOtherDevice: "id-token-for-other-device"
        case .userRequired: "user-required"
        case .userCredentialsUnusable: "user-credentials-unusable"
        case .proximityNotOffered: "proximity-not-offered"
        case .authorizationEnded: Refusal.Meaning.authorizationEnded.rawValue
        case .authorizationStateMismatch: "authorization-state-mismatch"
        case .providerURLInvalid: "provider-url-invalid"
        case .providerURLForeign: "provider-url-foreign"
        }
    }

    public var message: String {
        switch self {
        case .configurationMissing(let path): "no configuration at \(path)"
        case .configurationUnreadable(let source, let reason): "cannot read the configuration from \(source): \(reason)"
        case .configurationInvalid(let faults):
            "the configuration is not valid: " + faults.map { "\($0.path) \($0.fault)" }.joined(separator: "; ")
        case .enrollmentURLInvalid(let reason): "the enrollment URL is not valid: \(reason)"
        case .enrollmentURLWithoutKeyHash: "the enrollment URL has no subjectKeyHash, so its server cannot prove itself"
        case .enrollmentKeyHashInvalid: "subjectKeyHash of the enrollment URL is not the encoding of 32 bytes"
        case .enrollmentKeyMismatch(let host): "\(host)'s key does not match the enrollment URL"
        case .noActiveGateway: "this board is not enrolled at a gateway"
        case .hostNotConfigured(let host): "\(host) is neither the gateway nor a configured host"
        case .hostConfigurationInvalid(let host, let reason): "the configuration of host \(host) is not valid: \(reason)"
        case .pathInvalid(let reason): "cannot call this path: \(reason)"
        case .noAnswer(let operation, let error): "cannot \(operation.phrase): \(error.message)"
        case .unexpectedAnswer(let operation, let status, let reason):
            "cannot \(operation.phrase): HTTP \(status), \(reason)"
        case .refused(let refusal): refusal.sentence
        case .locationDemanded(let status):
            status == 448 ? "the called API does not serve this location" : "the called API demands a location"
        case .telephoneNumberDemanded(let status):
            status == 448
                ? "the called API does not serve this telephone number" : "the called API demands a telephone number"
        case .notRegistered: "this board is not registered at the gateway"
        case .awaitingActivation(let magIdentifier):
            "the device is registered as \(magIdentifier) and awaits activation by an administrator"
        case .registrationAnswerInvalid(let reason): "the gateway's answer to the registration is not valid: \(reason)"
        case .registrationWithdrawn(let code):
            "the gateway does not know this device any more (x-ca-err \(code)); its registration was dropped"
        case .deviceRecordInvalid(let reason): "the stored registration is not usable: \(reason)"
        case .renewedCertificateRefused(let reason):
            "the gateway does not accept the certificate it renewed (\(reason)); the old one stays in use"
        case .tokenAnswerInvalid(let reason): "the gateway's token answer is not valid: \(reason)"
        case .noGrantApplies: "there is no way to an access token without a user"
        case .scopeNotGranted(let requested, let granted):
            "the gateway granted \"\(granted)\", not all of \"\(requested)\""
        case .idTokenMalformed: "the id_token is not a signed token"
        case .idTokenAlgorithmUnsupported: "the id_token is signed with neither HS256 nor RS256"
        case .idTokenSignatureInvalid: "the signature of the id_token is not the gateway's"
        case .idTokenExpired: "the id_token has ended"
        case .idTokenForOtherClient: "the id_token is for another client (aud)"
        case .idTokenForOtherDevice: "the id_token is for another device (azp)"
        case .userRequired: "nobody is logged in on this board"
        case .userCredentialsUnusable(let reason): "cannot log in with this: \(reason)"
        case .proximityNotOffered: "the gateway does not offer log-in by another device"
        case .authorizationEnded: "the log-in was begun before this board's client credentials were dropped"
        case .authorizationStateMismatch: "the authorization code belongs to another log-in (state)"
        case .providerURLInvalid(let reason): "cannot authorize this: \(reason)"
        case .providerURLForeign(let gateway): "what should be authorized is not at \(gateway)"
        }
    }

    public var remedy: String? {
        switch self {
        case .configurationInvalid(let faults): faults.map { "\($0.path): \($0.fix)" }.joined(separator: "; ")
        case .configurationUnreadable: "export the configuration from the gateway again"
        case .enrollmentURLInvalid, .enrollmentURLWithoutKeyHash, .enrollmentKeyHashInvalid:
            "ask the gateway's administrator for a new enrollment URL and pass it unchanged, in quotes"
        case .enrollmentKeyMismatch:
            "do not go on with this URL: ask the administrator whether the gateway's key has changed"
        case .noActiveGateway: "enroll it: latchkey enroll - < url.txt"
        case .hostNotConfigured:
            "call a path of the gateway, such as /lab/hello; to call another host, connect to it yourself, with: latchkey token"
        case .hostConfigurationInvalid: "give the host an anchor, a pin, or the public authorities"
        case .pathInvalid: "give a path that starts with /, or an https URL of the gateway"
        case .noAnswer(_, let error): error.remedy
        case .unexpectedAnswer:
            "look for a proxy or a login page between this board and the gateway; nothing was changed, so it can be tried again"
        case .refused(let refusal): refusal.remedy
        case .locationDemanded, .telephoneNumberDemanded: "this board sends none; ask the owner of the called API"
        case .notRegistered: "enroll it: latchkey enroll - < url.txt"
        case .awaitingActivation: "ask the gateway's administrator to activate the device"
        case .registrationAnswerInvalid, .tokenAnswerInvalid: "report it to the gateway's administrator"
        case .registrationWithdrawn: "if the board should come back, enroll it again: latchkey enroll - < url.txt"
        case .deviceRecordInvalid: "remove it with latchkey reset, then enroll again"
        case .renewedCertificateRefused: "report it to the gateway's administrator; latchkey renew tries again"
        case .noGrantApplies: "log in"
        case .scopeNotGranted: "ask the gateway's administrator to register the scope for this client"
        case .idTokenExpired: "check the clock of this board"
        case .idTokenMalformed, .idTokenAlgorithmUnsupported, .idTokenSignatureInvalid, .idTokenForOtherClient,
            .idTokenForOtherDevice:
            "report it to the gateway's administrator: the token was not accepted"
        case .userRequired: "log in: latchkey login"
        case .userCredentialsUnusable: nil
        case .proximityNotOffered: "log in with user name and password, or ask the gateway's administrator to offer it"
        case .authorizationEnded, .authorizationStateMismatch: "begin the log-in again"
        case .providerURLInvalid, .providerURLForeign:
            "authorize nothing from this device unless you know it; devices of this gateway show its own address"
        case .configurationMissing: nil
        }
    }

    /// The client error code of 13.4, where there is one. Where the two public clients differ, Android's.
    public var localCode: Int? {
        switch self {
        case .configurationMissing: 100_201
        case .configurationUnreadable: 100_202
        case .configurationInvalid: 100_203
        case .enrollmentURLInvalid: 100_001
        case .enrollmentURLWithoutKeyHash, .enrollmentKeyHashInvalid: 100_005
        case .noActiveGateway: 100_004
        case .hostNotConfigured: 100_501
        case .hostConfigurationInvalid: 100_211
        case .pathInvalid: 100_204
        case .noAnswer(_, let error):
            switch error {
            case .timeout, .handshakeTimeout: 100_405
            case .tls: 100_408
            case .handshakeFailed, .clientCertificateRefused: 100_406
            default: 100_403
            }
        case .enrollmentKeyMismatch: 100_408
        case .unexpectedAnswer: 100_407
        case .refused(let refusal): refusal.localCode
        case .locationDemanded(let status): status == 448 ? 100_301 : 100_302
        case .telephoneNumberDemanded(let status): status == 448 ? 100_304 : 100_305
        case .notRegistered, .registrationWithdrawn: 120_004
        case .registrationAnswerInvalid, .deviceRecordInvalid: 120_006
        case .renewedCertificateRefused: 120_009
        case .tokenAnswerInvalid: 130_201
        case .noGrantApplies: 120_005
        case .scopeNotGranted: 130_203
        case .idTokenMalformed: 130_101
        case .idTokenExpired: 130_102
        case .idTokenForOtherClient: 130_103
        case .idTokenForOtherDevice: 130_104
        case .idTokenSignatureInvalid: 130_105
        case .idTokenAlgorithmUnsupported: 130_106
        case .userRequired: 120_005
        case .userCredentialsUnusable: 130_002
        case .proximityNotOffered: 100_103
        case .authorizationStateMismatch: 131_001
        case .providerURLInvalid: 650_102
        case .providerURLForeign: 650_104
        case .awaitingActivation, .authorizationEnded: nil
        }
    }
}

extension Refusal {
    var sentence: String {
        let words = text ?? oauthError ?? "no reason given"
        return "cannot \(operation.phrase): \(meaning.phrase) (HTTP \(status), x-ca-err \(code): \(words))"
    }

    var remedy: String? {
        switch meaning {
        case .deviceAlreadyRegistered:
            "remove the device at the gateway, or take a new device identifier with latchkey reset, then enroll again"
        case .deviceUnknown: "the device was removed at the gateway; to register it anew: latchkey reset, then latchkey enroll"
        case .deviceNotActive: "ask the gateway's administrator to activate the device"
        case .enrollmentRefused: "enrollment URLs work once and for a short time; ask the administrator for a new one"
        case .clientCredentialsInvalid, .notAMasterClient, .clientNotAuthorized, .grantTypeUnsupported, .scopeNotRegistered:
            "compare the client in the configuration with the one at the gateway, and enroll again if it changed"
        case .certificateExpired, .certificateInvalid: "latchkey renew; if the gateway refuses, latchkey reset and enroll again"
        case .prefixInvalid: "compare server.prefix of the configuration with the gateway"
        case .serverError: "try again; if it stays, look at the gateway's log"
        case .tokenLimitReached: "revoke tokens of this client at the gateway"
        case .tokenScopeInsufficient: "ask for the scope that the called API demands"
        case .tokenDisabled: "ask the gateway's administrator to enable the client"
        case .authorizationEnded: "begin the log-in again; it has to be authorized within a short time"
        default: nil
        }
    }
}

extension Refusal.Meaning {
    /// What the gateway says, in words.
    var phrase: String {
        switch self {
        case .serverError: "the gateway failed"
        case .certificateInvalid: "the gateway finds the certificate not valid"
        case .parametersInvalid: "the gateway misses a header or parameter"
        case .signingRequestInvalid: "the gateway finds the certificate request not valid"
        case .deviceAlreadyRegistered: "the device is registered already"
        case .deviceUnknown: "the gateway does not know this device"
        case .deviceNotActive: "the device is not active"
        case .notAMasterClient: "the client id of the configuration is no master client"
        case .grantInvalid: "the grant is not valid"
        case .scopeNotRegistered: "the client has no registered scope"
        case .clientNotAuthorized: "the client may not use this grant"
        case .grantTypeUnsupported: "the gateway does not know this grant"
        case .enrollmentRefused: "the enrollment URL was used before, has ended, or was never issued"
        case .serverMisconfigured: "the gateway is not configured for this"
        case .tokenLimitReached: "the limit of tokens is reached"
        case .clientCredentialsInvalid: "the client credentials are not valid"
        case .userCredentialsInvalid: "the user name or password is wrong"
        case .prefixInvalid: "the prefix is wrong"
        case .certificateExpired: "the device certificate has ended"
        case .tokenExpired: "the access token is not valid any more"
        case .tokenScopeInsufficient: "the access token lacks a scope"
        case .tokenMissing: "there is no access token, or more than one"
        case .tokenDisabled: "the token or its client is disabled"
        case .authorizationEnded: "the log-in is over or was never begun"
        case .authorizationDenied: "the log-in was denied"
        case .other: "the gateway refused"
        }
    }
}
