public import Cryptography
public import Vault

/// Why an operation of M-Pin failed. No case has a PIN, a token, a share of one, or what was sent or answered.
///
/// A `place` is the address of an endpoint, without query and without the user's identity.
public enum MPinError: Error, Equatable {
    // What was given
    /// The PIN is empty: the user did not enter one.
    case pinInputCanceled
    /// The PIN has a character other than printable ASCII.
    case pinNotPrintable
    /// A user's name, or something else that was given, cannot be used.
    case inputInvalid(reason: String)
    /// The account's configuration cannot be used.
    case configurationInvalid(reason: String)
    /// The access number is empty, or its check digit is wrong.
    case accessNumberInvalid

    // The order of the operations
    /// The back end's settings have not been fetched yet.
    case notConnected
    case noSuchUser
    case userExists(user: String)
    /// The operation is none for a user in this state.
    case wrongState(user: String, state: MPinUserState)
    /// An earlier step is missing.
    case stepMissing(step: String)

    // This machine
    case recordInvalid(account: String)
    case storage(VaultError)
    /// The token of a registered user is missing.
    case tokenMissing(user: String)
    case cryptography(CurveError)

    // The other side
    /// No answer; `reason` is what the HTTP client says.
    case noAnswer(place: String, reason: String)
    /// The server's certificate is not one that the account trusts.
    case notTrusted(place: String, refusal: TLSRefusal)
    case redirected(place: String, status: Int)
    case answerInvalid(place: String, reason: String)
    /// A point in an answer is none of the curve's, or nothing can be computed with it.
    case pointInvalid(place: String)
    /// The answer was made for another identity.
    case identityMismatch(place: String)
    case badUserAgent(place: String)
    case requestRefused(place: String, status: Int)
    case serverFailed(place: String, status: Int)
    case identityNotAuthorized(place: String, status: Int)
    case identityNotVerified(place: String, status: Int)
    case requestExpired(place: String, status: Int)
    case revoked(place: String, status: Int)
    case incorrectPIN(place: String, status: Int)
    /// The PIN was wrong too often. The token is erased, and the user has to register again.
    case blocked(place: String, status: Int)
    case accessNumberUnknown(place: String, status: Int)
    case clientSecretExpired(place: String, status: Int)
}
