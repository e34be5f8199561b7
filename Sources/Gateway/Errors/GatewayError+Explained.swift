import Cryptography
import Groundwork
import HTTPClient

extension GatewayError: Explained {
    // The numbers are those of MAG 13.4; if the two public clients differ, Android's.
    public var explanation: Explanation {
        switch self {
        // MARK: Configuration and enrollment
        case .configurationMissing(let path):
            Explanation(
                "gateway.configuration-missing", .invalidConfiguration, "no configuration at \(path)",
                gateway: .local(100_201))
        case .configurationUnreadable(let source, let reason):
            Explanation(
                "gateway.configuration-unreadable", .invalidConfiguration,
                "cannot read the configuration from \(source): \(reason)",
                remedy: "export the configuration from the gateway again", gateway: .local(100_202))
        case .configurationInvalid(let faults):
            Explanation(
                "gateway.configuration-invalid", .invalidConfiguration,
                "the configuration is not valid: " + faults.map { "\($0.path) \($0.fault)" }.joined(separator: "; "),
                remedy: faults.map { "\($0.path): \($0.fix)" }.joined(separator: "; "), gateway: .local(100_203))
        case .enrollmentURLInvalid(let reason):
            Explanation(
                "gateway.enrollment-url-invalid", .invalidInput, "the enrollment URL is not valid: \(reason)",
                remedy: Self.newURL, gateway: .local(100_001))
        case .enrollmentURLWithoutKeyHash:
            Explanation(
                "gateway.enrollment-url-without-key-hash", .invalidInput,
                "the enrollment URL has no subjectKeyHash, so its server cannot be verified", remedy: Self.newURL,
                gateway: .local(100_005))
        case .enrollmentKeyHashInvalid:
            Explanation(
                "gateway.enrollment-key-hash-invalid", .invalidInput,
                "subjectKeyHash of the enrollment URL is not the encoding of 32 bytes", remedy: Self.newURL,
                gateway: .local(100_005))
        case .enrollmentKeyMismatch(let host):
            Explanation(
                "gateway.enrollment-key-mismatch", .refused, "\(host)'s key does not match the enrollment URL",
                remedy: "do not use this URL: ask the administrator whether the gateway's key has changed",
                gateway: .local(100_408))

        // MARK: Targets
        case .hostNotConfigured(let host):
            Explanation(
                "gateway.host-not-configured", .invalidInput,
                "\(host) is neither the gateway nor a configured host",
                remedy: "call a path of the gateway, such as /lab/hello; to call another host, name it in [[hosts]] of "
                    + "latchkey.toml, or with: latchkey hosts add",
                gateway: .local(100_501))
        case .hostConfigurationInvalid(let host, let reason):
            Explanation(
                "gateway.host-configuration-invalid", .invalidConfiguration,
                "the configuration of host \(host) is not valid: \(reason)",
                remedy: "give its name and port as in host.example:443", gateway: .local(100_211))
        case .hostTrustMissing(let host):
            Explanation(
                "gateway.host-trust-missing", .invalidConfiguration,
                "the configuration of host \(host) does not say how the host is verified",
                remedy: "give it a certificate, the hash of a public key, or the public authorities",
                gateway: .local(100_212))
        case .hostUnknown(let name):
            Explanation(
                "gateway.host-unknown", .notFound, "there is no host \(name)",
                remedy: "latchkey hosts lists them, as host:port")
        case .hostInSettings(let name):
            Explanation(
                "gateway.host-in-settings", .conflict, "the host \(name) is in the settings file",
                remedy: "change it there, in [[hosts]] of latchkey.toml, and restart the agent")
        case .tooManyHosts(let limit):
            Explanation(
                "gateway.too-many-hosts", .conflict, "there are already \(limit) hosts",
                remedy: "remove one with: latchkey hosts remove")
        case .pathInvalid(let reason):
            Explanation(
                "gateway.path-invalid", .invalidInput, "cannot call this path: \(reason)",
                remedy: "give a path that starts with /, or an https URL of the gateway", gateway: .local(100_204))

        case .endpointUnknown(let name, let known):
            Explanation(
                "gateway.endpoint-unknown", .invalidInput,
                "the gateway's configuration names no endpoint \(DisplayText.clean(name).prefix(64))",
                remedy: known.isEmpty
                    ? "call its path instead; latchkey gateway show lists what the configuration names"
                    : "choose one of \(known.joined(separator: ", ")); latchkey gateway show lists all",
                gateway: .local(100_204))
        case .stopped:
            Explanation(
                "gateway.stopped", .conflict, "the gateway connection of this account is stopped",
                remedy: "start it: latchkey gateway start", gateway: .local(100_404))

        // MARK: Answers
        case .noAnswer(let operation, let error):
            Explanation(
                "gateway.no-answer", .unreachable, "cannot \(operation.phrase): \(error.message)",
                remedy: error.remedy,
                meaning: "the gateway could not be reached or verified, or did not answer in time; "
                    + "nothing has changed",
                cause: error.code, gateway: .local(error.localNumber))
        case .unexpectedAnswer(let operation, let status, let reason):
            Explanation(
                "gateway.unexpected-answer", .unreachable,
                "cannot \(operation.phrase): HTTP \(status), \(reason)",
                remedy: "look for a proxy or a login page between this board and the gateway; nothing was changed, "
                    + "so it can be tried again",
                meaning: "the answer is not the gateway's, or does not follow the protocol",
                gateway: .local(100_407, httpStatus: status))
        case .refused(let refusal): refusal.explanation
        case .locationDemanded(let status):
            Explanation(
                "gateway.location-demanded", .refused,
                status == 448 ? "the called API does not serve this location" : "the called API demands a location",
                remedy: status == 448
                    ? "ask the owner of the called API where it may be called from"
                    : "a location was sent; ask the owner of the called API what it expects",
                gateway: .local(status == 448 ? 100_301 : 100_302, httpStatus: status))
        case .telephoneNumberDemanded(let status):
            Explanation(
                "gateway.telephone-number-demanded", .refused,
                status == 448
                    ? "the called API does not serve this telephone number"
                    : "the called API demands a telephone number",
                remedy: "set gateway.msisdn to the board's number; it is sent if the gateway's configuration has "
                    + "msisdn_enabled",
                gateway: .local(status == 448 ? 100_304 : 100_305, httpStatus: status))
        case .locationUnavailable(let lack): lack.explanation
        case .unsignable(let reason): reason.explanation

        // MARK: Registration
        case .notRegistered:
            Explanation(
                "gateway.not-registered", .unconfigured, "this board is not registered at the gateway",
                remedy: "enroll it: latchkey enroll - < url.txt; if that was done with --no-register, the first login "
                    + "registers it: latchkey login", gateway: .local(120_004))
        case .awaitingActivation(let magIdentifier):
            Explanation(
                "gateway.awaiting-activation", .notAdmitted,
                "the device is registered as \(magIdentifier) and awaits activation by an administrator",
                remedy: "ask the gateway's administrator to activate the device")
        case .registrationAnswerInvalid(let reason):
            Explanation(
                "gateway.registration-answer-invalid", .invalidAnswer,
                "the gateway's answer to the registration is not valid: \(reason)", remedy: Self.report,
                gateway: .local(120_006))
        case .registrationWithdrawn(let code):
            Explanation(
                "gateway.registration-withdrawn", .notAdmitted,
                "the gateway no longer knows this device (x-ca-err \(code)); its registration was dropped",
                remedy: "to use the board again, enroll it: latchkey enroll - < url.txt",
                gateway: GatewayNumbers(.local, 120_004, caError: code))
        case .deviceRecordInvalid(let reason):
            Explanation(
                "gateway.device-record-invalid", .damaged, "the stored registration is not usable: \(reason)",
                remedy: "remove it with latchkey reset, then enroll again", gateway: .local(120_006))
        case .renewedCertificateRefused(let reason):
            Explanation(
                "gateway.renewed-certificate-refused", .refused,
                "the gateway does not accept the certificate it renewed (\(reason)); the old one stays in use",
                remedy: "report it to the gateway's administrator; latchkey renew tries again",
                gateway: .local(120_009))

        // MARK: Tokens
        case .tokenAnswerInvalid(let reason):
            Explanation(
                "gateway.token-answer-invalid", .invalidAnswer,
                "the gateway's token answer is not valid: \(reason)",
                remedy: Self.report, gateway: .local(130_201))
        case .noGrantApplies:
            Explanation(
                "gateway.no-grant-applies", .conflict, "no grant gives an access token without a user",
                remedy: "log in", gateway: .local(120_005))
        case .scopeNotGranted(let requested, let granted):
            Explanation(
                "gateway.scope-not-granted", .refused,
                "the gateway granted \"\(granted)\", not all of \"\(requested)\"",
                remedy: "ask the gateway's administrator to register the scope for this client",
                gateway: .local(130_203))
        case .idTokenMalformed:
            Explanation(
                "gateway.id-token-malformed", .invalidAnswer, "the id_token is not a signed token",
                remedy: Self.reportToken, gateway: .local(130_101))
        case .idTokenAlgorithmUnsupported:
            Explanation(
                "gateway.id-token-algorithm-unsupported", .invalidAnswer,
                "the id_token is signed with neither HS256 nor RS256", remedy: Self.reportToken,
                gateway: .local(130_106))
        case .idTokenSignatureInvalid:
            Explanation(
                "gateway.id-token-signature-invalid", .invalidAnswer,
                "the signature of the id_token is not the gateway's", remedy: Self.reportToken,
                gateway: .local(130_105))
        case .idTokenExpired:
            Explanation(
                "gateway.id-token-expired", .invalidAnswer, "the id_token has expired",
                remedy: "check the clock of this board", gateway: .local(130_102))
        case .idTokenForOtherClient:
            Explanation(
                "gateway.id-token-for-other-client", .invalidAnswer, "the id_token is for another client (aud)",
                remedy: Self.reportToken, gateway: .local(130_103))
        case .idTokenForOtherDevice:
            Explanation(
                "gateway.id-token-for-other-device", .invalidAnswer, "the id_token is for another device (azp)",
                remedy: Self.reportToken, gateway: .local(130_104))

        // MARK: Users
        case .userRequired:
            Explanation(
                "gateway.user-required", .conflict, "no user is logged in on this board",
                remedy: "log in: latchkey login",
                gateway: .local(120_005))
        case .userCredentialsUnusable(let reason):
            Explanation(
                "gateway.user-credentials-unusable", .invalidInput, "cannot log in with this: \(reason)",
                gateway: .local(130_002))
        case .codeUsedForRegistration:
            Explanation(
                "gateway.code-used-for-registration", .conflict,
                "the login has registered this board, but no user is logged in yet",
                remedy: "log in once more: without single sign-on a code works only for one of the two")
        case .proximityNotOffered:
            Explanation(
                "gateway.proximity-not-offered", .conflict,
                "the gateway does not offer login by another device",
                remedy: "log in with user name and password, or ask the gateway's administrator to offer it",
                gateway: .local(100_103))
        case .authorizationEnded:
            Explanation(
                "gateway.authorization-ended", .refused,
                "the login was started before this board's client credentials were dropped",
                remedy: "start the login again")
        case .authorizationStateMismatch:
            Explanation(
                "gateway.authorization-state-mismatch", .invalidAnswer,
                "the authorization code belongs to another login (state)", remedy: "start the login again",
                gateway: .local(131_001), browserAnswer: .ofAnotherLogin)
        case .providerURLInvalid(let reason):
            Explanation(
                "gateway.provider-url-invalid", .invalidInput, "cannot authorize this: \(reason)",
                remedy: Self.ownAddress, gateway: GatewayNumbers(.proximityLocal, 650_102))
        case .providerURLForeign(let gateway):
            Explanation(
                "gateway.provider-url-foreign", .invalidInput, "the address to authorize is not at \(gateway)",
                remedy: Self.ownAddress, gateway: GatewayNumbers(.proximityLocal, 650_104))
        }
    }

    private static let newURL =
        "ask the gateway's administrator for a new enrollment URL and pass it unchanged, in quotes"
    private static let report = "report it to the gateway's administrator"
    private static let reportToken = "report it to the gateway's administrator: the token was not accepted"
    private static let ownAddress =
        "authorize nothing from this device unless you know it; devices of this gateway show the gateway's own address"

    public static let examples =
        ownExamples + Refusal.examples.map(GatewayError.refused)
        + LocationLack.allCases.map(GatewayError.locationUnavailable)
        + Unsignable.examples.map(GatewayError.unsignable)

    /// Examples of all errors but the refusals.
    private static let ownExamples: [GatewayError] = [
        .configurationMissing(path: "PATH"), .configurationUnreadable(source: "SOURCE", reason: "REASON"),
        .configurationInvalid(faults: [ConfigurationFault(path: "KEY", fault: "FAULT", fix: "FIX")]),
        .enrollmentURLInvalid(reason: "REASON"), .enrollmentURLWithoutKeyHash, .enrollmentKeyHashInvalid,
        .enrollmentKeyMismatch(host: "HOST"), .hostNotConfigured(host: "HOST"),
        .hostConfigurationInvalid(host: "HOST", reason: "REASON"), .hostTrustMissing(host: "HOST"),
        .hostUnknown(name: "HOST:443"), .hostInSettings(name: "HOST:443"), .tooManyHosts(limit: 32),
        .pathInvalid(reason: "REASON"), .endpointUnknown(name: "NAME", known: ["NAME"]),
        .endpointUnknown(name: "NAME", known: []), .stopped,
        .noAnswer(.call, .cannotResolve(host: "HOST")), .noAnswer(.call, .timeout(url: "URL")),
        .noAnswer(.call, .tls(host: "HOST", refusal: .pinMismatch)),
        .noAnswer(.call, .clientCertificateRefused(host: "HOST", alert: 45)),
        .unexpectedAnswer(.call, status: 200, reason: "REASON"), .locationDemanded(status: 449),
        .locationDemanded(status: 448),
        .telephoneNumberDemanded(status: 449), .telephoneNumberDemanded(status: 448),
        .notRegistered,
        .awaitingActivation(magIdentifier: "MAG-IDENTIFIER"), .registrationAnswerInvalid(reason: "REASON"),
        .registrationWithdrawn(code: 1_000_107), .deviceRecordInvalid(reason: "REASON"),
        .renewedCertificateRefused(reason: "REASON"),
        .tokenAnswerInvalid(reason: "REASON"), .noGrantApplies, .scopeNotGranted(requested: "SCOPE", granted: "SCOPE"),
        .idTokenMalformed, .idTokenAlgorithmUnsupported, .idTokenSignatureInvalid, .idTokenExpired,
        .idTokenForOtherClient,
        .idTokenForOtherDevice, .userRequired, .userCredentialsUnusable(reason: "REASON"),
        .codeUsedForRegistration, .proximityNotOffered,
        .authorizationEnded,
        .authorizationStateMismatch, .providerURLInvalid(reason: "REASON"),
        .providerURLForeign(gateway: GatewayIdentity(host: "gateway", port: 8443, prefix: "")),
    ]
}
