import Cryptography
public import Groundwork
import Vault

extension MPinError: Explained {
    /// The status of the public clients (MPIN 8); never ``MPinStatus/ok``.
    public var status: MPinStatus { facts.status }

    public var explanation: Explanation {
        let (status, said) = facts
        return Explanation(said.code, said.kind, said.message, remedy: said.remedy, status: status.rawValue)
    }

    private var facts: (status: MPinStatus, explanation: Explanation) {
        switch self {
        case .pinInputCanceled:
            (
                .pinInputCanceled,
                Explanation(
                    "mpin.pin-input-canceled", .cancelled, "no PIN was entered",
                    remedy: "enter one: nothing was sent, and nothing has changed")
            )
        case .pinNotPrintable:
            (
                .flowError,
                Explanation(
                    "mpin.pin-not-printable", .invalidInput, "the PIN has characters other than printable ASCII",
                    remedy: "use digits, or letters without accents")
            )
        case .inputInvalid(let reason):
            (.flowError, Explanation("mpin.input-invalid", .invalidInput, "this value cannot be used: \(reason)"))
        case .configurationInvalid(let reason):
            (
                .flowError,
                Explanation(
                    "mpin.configuration-invalid", .invalidInput, "the M-Pin account cannot be used: \(reason)",
                    remedy: "see: latchkey mpin backend add --help")
            )
        case .accessNumberInvalid:
            (
                .incorrectAccessNumber,
                Explanation(
                    "mpin.access-number-invalid", .invalidInput, "the access number is mistyped",
                    remedy: "compare it with the one in the browser, digit by digit")
            )
        case .notConnected:
            (
                .flowError,
                Explanation(
                    "mpin.not-connected", .temporary, "the settings of the M-Pin back end are not known yet",
                    remedy: "try again when the back end can be reached")
            )
        case .noSuchUser:
            (
                .flowError,
                Explanation(
                    "mpin.no-such-user", .notFound, "there is no such user at this M-Pin back end",
                    remedy: "list them: latchkey mpin user list; or make this one: latchkey mpin user new ID")
            )
        case .userExists(let user):
            (
                .flowError,
                Explanation(
                    "mpin.user-exists", .conflict, "\(user) is already known at this M-Pin back end",
                    remedy: "continue the registration, or delete the user first")
            )
        case .wrongState(let user, let state):
            (
                .flowError,
                Explanation(
                    "mpin.wrong-state", .conflict, "that cannot be done for \(user), whose state is \(state.rawValue)",
                    remedy: Self.next(after: state))
            )
        case .stepMissing(let step):
            (.flowError, Explanation("mpin.step-missing", .conflict, "\(step) must come first"))
        case .recordInvalid(let account):
            (
                .storageError,
                Explanation(
                    "mpin.record-invalid", .damaged, "the stored data of the M-Pin account \(account) cannot be read",
                    remedy:
                        "they were not changed; before you make it again: latchkey accounts remove --force \(account)"
                )
            )
        case .storage(let error):
            (
                .storageError,
                Explanation(
                    "mpin.storage", error.kind, "cannot read or write the data of M-Pin: \(error.message)",
                    remedy: error.remedy)
            )
        case .tokenMissing(let user):
            (
                .cryptoError,
                Explanation(
                    "mpin.token-missing", .damaged, "there is no token of \(user)",
                    remedy: "delete the user, and register again")
            )
        case .cryptography(let error):
            (
                .cryptoError,
                Explanation(
                    "mpin.cryptography", error.kind, "cannot compute what M-Pin needs: \(error.message)",
                    remedy: error.remedy)
            )
        case .noAnswer(let place, let reason):
            (
                .networkError,
                Explanation(
                    "mpin.no-answer", .unreachable, "no answer from \(place): \(reason)",
                    remedy: "check the network and the account's address, and try again")
            )
        case .notTrusted(let place, let refusal):
            (
                .networkError,
                Explanation(
                    "mpin.server-not-trusted", .refused, "the server of \(place) is not trusted: \(refusal)",
                    remedy: "check this board's clock: latchkey doctor; if the back end has an authority of its own, "
                        + "make the account again with it: latchkey mpin backend add --authorities FILE")
            )
        case .redirected(let place, let status):
            (
                .networkError,
                Explanation(
                    "mpin.redirected", .refused, "\(place) sends this board elsewhere (status \(status))",
                    remedy:
                        "compare the account's address with the back end's documentation; redirects are not followed")
            )
        case .answerInvalid(let place, let reason):
            (
                .responseParseError,
                Explanation("mpin.answer-invalid", .invalidAnswer, "the answer of \(place) cannot be used: \(reason)")
            )
        case .pointInvalid(let place):
            (
                .cryptoError,
                Explanation(
                    "mpin.point-invalid", .invalidAnswer,
                    "the answer of \(place) has a point that is not on the curve, or cannot be used there",
                    remedy: "nothing was computed with it; report it to the back end's administrator")
            )
        case .identityMismatch(let place):
            (
                .cryptoError,
                Explanation(
                    "mpin.identity-mismatch", .refused, "the answer of \(place) was made for another identity",
                    remedy: "nothing was computed with it; report it to the back end's administrator")
            )
        case .badUserAgent(let place):
            (
                .badUserAgent,
                Explanation(
                    "mpin.bad-user-agent", .refused, "\(place) does not accept this program (status 406)",
                    remedy: "check the headers that were given to the account")
            )
        case .requestRefused(let place, let status):
            (
                .httpRequestError,
                Explanation("mpin.request-refused", .refused, "\(place) refused the request with status \(status)")
            )
        case .serverFailed(let place, let status):
            (
                .httpServerError,
                Explanation(
                    "mpin.server-failed", .unreachable, "\(place) failed with status \(status)",
                    remedy: "try again; if it persists, report it to the back end's administrator")
            )
        case .identityNotAuthorized(let place, let status):
            (
                .identityNotAuthorized,
                Explanation(
                    "mpin.identity-not-authorized", .denied,
                    "\(place) does not let this user in (status \(status))",
                    remedy: "ask the back end's administrator")
            )
        case .identityNotVerified(let place, let status):
            (
                .identityNotVerified,
                Explanation(
                    "mpin.identity-not-verified", .notAdmitted,
                    "\(place) has not verified this user, or the registration has expired (status \(status))",
                    remedy: "follow the message that the back end sent, and confirm again; or restart the registration")
            )
        case .requestExpired(let place, let status):
            (
                .requestExpired,
                Explanation(
                    "mpin.request-expired", .temporary, "the request took too long for \(place) (status \(status))",
                    remedy: "try again; if it persists, check this board's clock")
            )
        case .revoked(let place, let status):
            (
                .revoked,
                Explanation(
                    "mpin.revoked", .denied, "\(place) has revoked this user (status \(status))",
                    remedy: "ask the back end's administrator")
            )
        case .incorrectPIN(let place, let status):
            (
                .incorrectPIN,
                Explanation(
                    "mpin.incorrect-pin", .denied, "the PIN is wrong (\(place), status \(status))",
                    remedy: "try again, with care: the back end blocks the user after a few wrong PINs")
            )
        case .blocked(let place, let status):
            (
                .incorrectPIN,
                Explanation(
                    "mpin.blocked", .denied,
                    "the PIN was wrong too often, and the user is blocked "
                        + "(\(place), status \(status))",
                    remedy: "delete the user, and register again")
            )
        case .accessNumberUnknown(let place, let status):
            (
                .incorrectAccessNumber,
                Explanation(
                    "mpin.access-number-unknown", .refused,
                    "the access number is unknown or has expired (\(place), status \(status))",
                    remedy: "use the number that the browser shows now")
            )
        case .clientSecretExpired(let place, let status):
            (
                .clientSecretExpired,
                Explanation(
                    "mpin.client-secret-expired", .unconfigured,
                    "this user's registration has expired (\(place), status \(status))",
                    remedy: "delete the user, and register again")
            )
        }
    }

    private static func next(after state: MPinUserState) -> String? {
        switch state {
        case .invalid: "begin the registration first: latchkey mpin register start"
        case .startedRegistration:
            "have the user verified as the back end asks, then: latchkey mpin register confirm"
        case .activated: "choose the PIN: latchkey mpin register confirm, then latchkey mpin register finish"
        case .registered: nil
        case .blocked: "delete the user, and register again: latchkey mpin user delete"
        }
    }

    public static let examples: [MPinError] = [
        .pinInputCanceled, .pinNotPrintable, .inputInvalid(reason: "REASON"), .configurationInvalid(reason: "REASON"),
        .accessNumberInvalid,
        .notConnected, .noSuchUser, .userExists(user: "USER"), .wrongState(user: "USER", state: .blocked),
        .stepMissing(step: "STEP"), .recordInvalid(account: "NAME"), .storage(.closed(path: "PATH")),
        .tokenMissing(user: "USER"), .cryptography(.infinity), .noAnswer(place: "URL", reason: "REASON"),
        .notTrusted(place: "URL", refusal: .pinMismatch),
        .redirected(place: "URL", status: 302), .answerInvalid(place: "URL", reason: "REASON"),
        .pointInvalid(place: "URL"), .identityMismatch(place: "URL"), .badUserAgent(place: "URL"),
        .requestRefused(place: "URL", status: 400), .serverFailed(place: "URL", status: 500),
        .identityNotAuthorized(place: "URL", status: 403), .identityNotVerified(place: "URL", status: 401),
        .requestExpired(place: "URL", status: 408), .revoked(place: "URL", status: 410),
        .incorrectPIN(place: "URL", status: 401), .blocked(place: "URL", status: 410),
        .accessNumberUnknown(place: "URL", status: 412), .clientSecretExpired(place: "URL", status: 409),
    ]
}
