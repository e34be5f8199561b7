import HTTPClient

/// Everything that can go wrong between this board and its gateway.
///
/// Its code is stable; its numbers are those that the protocol's public clients use (MAG 13.4).
public enum GatewayError: Error, Equatable, Sendable {
    // MARK: Configuration and enrollment

    /// No such file.
    case configurationMissing(path: String)
    /// No JSON object, or too long. `source` is a path or a host.
    case configurationUnreadable(source: String, reason: String)
    /// Every fault of the document, in its order.
    case configurationInvalid(faults: [ConfigurationFault])
    case enrollmentURLInvalid(reason: String)
    /// Nothing would prove that the server is the one meant; nothing was sent.
    case enrollmentURLWithoutKeyHash
    case enrollmentKeyHashInvalid
    /// The server does not hold the key that the enrollment URL names.
    case enrollmentKeyMismatch(host: String)

    // MARK: Where to

    /// The host is neither the gateway nor one of the additional hosts.
    case hostNotConfigured(host: String)
    case hostConfigurationInvalid(host: String, reason: String)
    case pathInvalid(reason: String)

    // MARK: Answers

    /// No answer: nothing that the session holds has changed.
    case noAnswer(GatewayOperation, HTTPError)
    /// An answer that is not the gateway's word, or not what the protocol says; nothing that the session holds has changed.
    case unexpectedAnswer(GatewayOperation, status: Int, reason: String)
    case refused(Refusal)
    /// The called API wants to know where the board is (HTTP 449), or forbids it where it is (448).
    case locationDemanded(status: Int)
    /// The called API wants to know the telephone number (HTTP 449), or forbids it with this one (448).
    case telephoneNumberDemanded(status: Int)

    // MARK: Registration

    /// Not registered, and not to register before a person wants it.
    case notRegistered
    /// Registered, and of use as soon as an administrator activates the device.
    case awaitingActivation(magIdentifier: String)
    /// A registration answer lacks a part, repeats one, or holds a certificate for another key.
    case registrationAnswerInvalid(reason: String)
    /// The gateway said that it does not know this device any more; only a person registers it again.
    case registrationWithdrawn(code: Int)
    /// What the vault holds of the registration does not fit together.
    case deviceRecordInvalid(reason: String)
    /// The gateway did not accept a connection with the certificate it had just issued; the old one stays.
    case renewedCertificateRefused(reason: String)

    // MARK: Tokens

    case tokenAnswerInvalid(reason: String)
    /// No way to an access token is left: somebody has to log in.
    case noGrantApplies
    case scopeNotGranted(requested: String, granted: String)
    case idTokenMalformed
    case idTokenAlgorithmUnsupported
    case idTokenSignatureInvalid
    case idTokenExpired
    case idTokenForOtherClient
    case idTokenForOtherDevice

    // MARK: Users

    /// Nobody is logged in, or the gateway has ended the log-in.
    case userRequired
    /// A user name or password that no request could carry; nothing was sent.
    case userCredentialsUnusable(reason: String)
    /// The gateway does not offer log-in by another device.
    case proximityNotOffered
    /// The authorization session was begun with client credentials that this board does not have any more.
    case authorizationEnded
    /// An authorization code came with another state than this board's: it is of another log-in.
    case authorizationStateMismatch
    /// What another device wants authorized is no URL that may be called.
    case providerURLInvalid(reason: String)
    /// What another device wants authorized is not at this gateway; it was not called.
    case providerURLForeign(gateway: GatewayIdentity)
}
