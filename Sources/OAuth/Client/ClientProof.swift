import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient

/// How a client authenticates at a server's endpoints (RFC 6749 section 2.3, OpenID Connect Core section 9).
public enum ClientProof: Sendable {
    /// A public client, which only gives its id.
    case none
    /// `client_secret_basic`
    case basic(SecretBytes)
    /// `client_secret_post`
    case post(SecretBytes)
    /// `private_key_jwt`
    case signed(SignedAssertion)

    /// Puts a form into a request, with this authentication.
    ///
    /// With Basic authentication the id is in the header only: RFC 6749 section 2.3 allows one way at a time.
    ///
    /// - Parameters:
    ///   - secrets: further fields of the form.
    ///   - audience: whom a signed assertion is for.
    /// - Throws: `CryptographyError`
    public func fill(
        _ request: inout HTTPRequest, client id: String, form: FormBody, secrets: [(name: String, value: SecretBytes)],
        audience: String, now: Date
    ) async throws(CryptographyError) {
        var (form, secrets) = (form, secrets)
        switch self {
        case .none: form.add("client_id", id)
        case .basic(let secret):
            request.headers.set("Authorization", Self.basicHeader(id, secret))
        case .post(let secret):
            form.add("client_id", id)
            secrets.append(("client_secret", secret))
        case .signed(let assertion):
            form.add("client_id", id)
            form.add("client_assertion_type", SignedAssertion.clientAssertionType)
            secrets.append(
                (
                    "client_assertion",
                    try await assertion.make(issuer: id, subject: id, audience: audience, now: now)
                ))
        }
        request.headers.set("Content-Type", FormBody.contentType)
        request.headers.set("Accept", "application/json")
        request.body = form.bytes(with: secrets)
    }

    /// Id and secret are encoded first, so that a colon or a character outside ASCII survives (RFC 6749 section 2.3.1).
    static func basicHeader(_ id: String, _ secret: SecretBytes) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(3 * secret.count)
        secret.withUnsafeBytes { PercentEncoding.append($0, to: &encoded) }
        defer { wipe(&encoded) }
        return BasicCredentials.header(name: PercentEncoding.encode(id), secret: SecretBytes(encoded))
    }
}
