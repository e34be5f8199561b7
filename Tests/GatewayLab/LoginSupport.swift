import Foundation
import GatewayLab
import Groundwork

/// A client's side of one authorization session, as the openssl and curl programs make it.
struct Attempt: Sendable {
    var client: ClientPair
    var verifier: String
    var state: String
    /// What E3 answered.
    var reply: Curl.Reply

    /// `auth_url` and `poll_url` of a provider.
    func provider(_ id: String) -> (authURL: String, pollURL: String?)? {
        let found = reply.json["providers"]?.array?.first { $0["provider"]?["id"]?.string == id }
        guard let url = found?["provider"]?["auth_url"]?.string else { return nil }
        return (url, found?["provider"]?["poll_url"]?.string)
    }
}

extension Workshop {
    static let redirectURI = MasterClient.agent.redirectURI
    static let loginScope = "openid msso profile email"

    /// RFC 7636 section 4.2, by the openssl program.
    func challenge(_ verifier: String) async throws -> String {
        let digest = try await run("openssl", ["dgst", "-sha256", "-r"], input: Array(verifier.utf8)).output.prefix(64)
        return Base64.encode(Hex.decode(String(digest)) ?? [], alphabet: .urlSafe)
    }

    func e3(_ pairs: [(String, String)], headers: [String: String] = [:]) async throws -> Curl.Reply {
        let query = pairs.map { "\($0.0)=\(Self.escaped($0.1))" }.joined(separator: "&")
        return try await curl.send("GET", "\(Endpoint.authorization.path)?\(query)", headers: headers)
    }

    /// E3 with PKCE.
    func attempt(
        _ client: ClientPair, scope: String = Workshop.loginScope, display: String = "social_login",
        headers: [String: String] = [:]
    ) async throws -> Attempt {
        let verifier = UUID().uuidString + UUID().uuidString
        let state = UUID().uuidString
        let reply = try await e3(
            [
                ("client_id", client.id), ("response_type", "code"), ("display", display), ("scope", scope),
                ("redirect_uri", Self.redirectURI), ("code_challenge", try await challenge(verifier)),
                ("code_challenge_method", "S256"), ("state", state),
            ], headers: headers)
        return Attempt(client: client, verifier: verifier, state: state, reply: reply)
    }

    /// A registered device on which `user` is logged in, and the user's access token.
    func phone(_ user: String = "alice", name: String = "phone") async throws -> (Registered, token: String) {
        let device = try await registered(name)
        let reply = try await token(
            device, [("grant_type", "password"), ("username", user), ("password", "\(user)-password")])
        guard let token = reply.json["access_token"]?.string else { throw Unexpected(reply: reply) }
        return (device, token)
    }

    /// E19
    func authorize(_ url: String, by phone: (Registered, token: String), method: String = "POST") async throws
        -> Curl.Reply
    {
        try await curl.send(
            method, url,
            headers: [
                "Authorization": "Bearer \(phone.token)", "mag-identifier": phone.0.magIdentifier,
                "Content-Type": "application/x-www-form-urlencoded",
            ], identity: phone.0.identity)
    }

    /// A code by proximity: E3, E19 and E20.
    func code(_ attempt: Attempt, by phone: (Registered, token: String)) async throws -> String {
        guard let provider = attempt.provider("qrcode"), let pollURL = provider.pollURL else {
            throw Unexpected(reply: attempt.reply)
        }
        let authorized = try await authorize(provider.authURL, by: phone)
        guard authorized.status == 200 else { throw Unexpected(reply: authorized) }
        let polled = try await curl.send("GET", pollURL)
        guard let code = polled.json["code"]?.string, !code.isEmpty else { throw Unexpected(reply: polled) }
        return code
    }

    /// E8 with a code; `nil` leaves a field out.
    func redeem(_ code: String, _ attempt: Attempt, on device: Registered, changing: [String: String?] = [:])
        async throws -> Curl.Reply
    {
        let fields: [String: String?] = [
            "grant_type": "authorization_code", "code": code, "redirect_uri": Self.redirectURI,
            "code_verifier": attempt.verifier,
        ]
        let form = fields.merging(changing) { _, mine in mine }.compactMap { pair in pair.value.map { (pair.key, $0) } }
        return try await token(device, form)
    }

    /// E4 with a code; `nil` leaves a header out.
    func register(_ board: Board, by code: String, _ attempt: Attempt, changing: [String: String?] = [:]) async throws
        -> Curl.Reply
    {
        let headers: [String: String?] = [
            "client-authorization": attempt.client.basic, "authorization": "Bearer \(code)",
            "redirect-uri": Self.redirectURI, "code-verifier": attempt.verifier, "device-id": board.encodedID,
            "device-name": Base64.encode("Test board".utf8), "cert-format": "pem", "create-session": "true",
            "Content-Type": "text/plain",
        ]
        return try await curl.send(
            "POST", Endpoint.registration.path,
            headers: headers.merging(changing) { _, mine in mine }.compactMapValues(\.self),
            body: Array(Base64.encode(board.request, alphabet: .urlSafe).utf8))
    }

    static func escaped(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}
