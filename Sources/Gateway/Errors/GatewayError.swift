import HTTPClient

/// Everything that can go wrong between this board and its gateway.
///
/// Its code is stable; its numbers are those that the protocol's public clients use (MAG 13.4).
public enum GatewayError: Error, Equatable, Sendable {
    // MARK: Configuration and enrollment

    /// The file does not exist.
    case configurationMissing(path: String)
    /// Not a JSON object, or too long. `source` is a path or a host.
    case configurationUnreadable(source: String, reason: String)
    /// Every fault of the document, in its order.
    case configurationInvalid(faults: [ConfigurationFault])
    case enrollmentURLInvalid(reason: String)
    /// The server could not be verified; nothing was sent.
    case enrollmentURLWithoutKeyHash
    case enrollmentKeyHashInvalid
    /// The server's key is not the one in the enrollment URL.
    case enrollmentKeyMismatch(host: String)

    // MARK: Targets

    /// The host is neither the gateway nor one of the additional hosts.
    case hostNotConfigured(host: String)
    case hostConfigurationInvalid(host: String, reason: String)
    /// Nothing says how the host must prove itself.
    case hostTrustMissing(host: String)
    /// No host is stored under this name.
    case hostUnknown(name: String)
    /// The settings file has the host; it is changed there.
    case hostInSettings(name: String)
    /// There are as many hosts as there may be.
    case tooManyHosts(limit: Int)
    case pathInvalid(reason: String)
    /// The configuration names no such endpoint. `known` are those of its `custom`.
    case endpointUnknown(name: String, known: [String])
    /// A person has stopped everything that talks to the gateway; nothing was sent.
    case stopped

    // MARK: Answers

    /// No answer: nothing in the session has changed.
    case noAnswer(GatewayOperation, HTTPError)
    /// An answer that is not from the gateway itself, or violates the protocol; nothing in the session has changed.
    case unexpectedAnswer(GatewayOperation, status: Int, reason: String)
    case refused(Refusal)
    /// The called API wants to know where the board is (HTTP 449), or does not allow the call from there (448).
    case locationDemanded(status: Int)
    /// The called API wants to know the telephone number (HTTP 449), or does not allow this one (448).
    case telephoneNumberDemanded(status: Int)

    /// The called API demands a location, and none could be sent.
    case locationUnavailable(LocationLack)

    /// The body of a call cannot be signed; nothing was sent.
    case unsignable(Unsignable)

    // MARK: Registration

    /// Not registered, and must not register until a person requests it.
    case notRegistered
    /// Registered, but unusable until an administrator activates the device.
    case awaitingActivation(magIdentifier: String)
    /// A registration answer lacks a part, repeats one, or holds a certificate for another key.
    case registrationAnswerInvalid(reason: String)
    /// The gateway no longer knows this device; only a person can register it again.
    case registrationWithdrawn(code: Int)
    /// The registration's records in the vault are inconsistent.
    case deviceRecordInvalid(reason: String)
    /// The gateway did not accept a connection with the certificate it had just issued; the old one stays.
    case renewedCertificateRefused(reason: String)

    // MARK: Tokens

    case tokenAnswerInvalid(reason: String)
    /// No grant for an access token is left: a person has to log in.
    case noGrantApplies
    case scopeNotGranted(requested: String, granted: String)
    case idTokenMalformed
    case idTokenAlgorithmUnsupported
    case idTokenSignatureInvalid
    case idTokenExpired
    case idTokenForOtherClient
    case idTokenForOtherDevice

    // MARK: Users

    /// No user is logged in, or the gateway has ended the login.
    case userRequired
    /// A user name or password that cannot be sent in a request; nothing was sent.
    case userCredentialsUnusable(reason: String)
    /// The code registered this board and is used up: without single sign-on, the gateway gives no session with it.
    case codeUsedForRegistration
    /// The gateway does not offer login with another device.
    case proximityNotOffered
    /// The authorization session was begun with client credentials that this board no longer has.
    case authorizationEnded
    /// An authorization code came with a state that is not this board's: it belongs to another login.
    case authorizationStateMismatch
    /// The URL that another device wants authorized must not be called.
    case providerURLInvalid(reason: String)
    /// The URL that another device wants authorized is not at this gateway; it was not called.
    case providerURLForeign(gateway: GatewayIdentity)
}
