import AgentCore
import AgentMetrics
import FoundationEssentials
import Groundwork
import LocalAPI

/// The listener on TCP for programs that cannot use the Unix socket: with a user of the settings, the local API with the
/// rights of that user, but never the right to operate; the figures beside it, and alone without a user.
struct TokenListener {
    let address: ListenAddress
    let names: [String]
    let token: String
    /// `nil`: only the figures.
    let user: UserAccount?

    /// The fewest characters of a token, and those below which the doctor warns.
    static let leastToken = 16
    static let goodToken = 32

    /// - Parameter environment: read for `CREDENTIALS_DIRECTORY`.
    /// - Throws: ``ListenerError``
    init(_ settings: APISettings, environment: [String: String]) throws(ListenerError) {
        let listen = settings.listen
        guard let address = ListenAddress(listen), !address.isWildcard else { throw .notAnAddress(listen) }
        guard address.isLoopback || settings.listensBeyondLoopback else { throw .beyondLoopback(listen) }
        (self.address, names) = (address, settings.names)
        token = try Self.token(settings, environment)
        user = settings.tokenUser.isEmpty ? nil : try UserAccount(settings.tokenUser)
    }

    private static func token(
        _ settings: APISettings, _ environment: [String: String]
    ) throws(ListenerError) -> String {
        let file = settings.tokenFile
        let path: String
        if file.isEmpty {
            let name = settings.tokenCredential
            guard let folder = environment["CREDENTIALS_DIRECTORY"] else {
                throw .tokenUnusable(path: name, reason: "systemd has not handed over the credential")
            }
            path = "\(folder)/\(name)"
        } else {
            path = file
        }
        let bytes: [UInt8]
        do {
            // systemd grants a credential by an access list, which makes its mode look as if a group could read it.
            bytes = try BoundedFile.read(path, limit: 1024, isSecret: !file.isEmpty)
        } catch {
            throw .tokenUnusable(path: path, reason: error.description)
        }
        let token = String(decoding: bytes, as: UTF8.self).trimmed
        guard token.utf8.count >= leastToken else {
            throw .tokenUnusable(path: path, reason: "it has fewer than \(leastToken) characters")
        }
        guard token.utf8.allSatisfy(isOfToken) else {
            throw .tokenUnusable(path: path, reason: "it has characters other than letters, digits and -._~+/=")
        }
        return token
    }

    /// The characters of a bearer token (RFC 6750 section 2.1).
    private static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~+/=".utf8.contains(byte)
        }
    }

    /// What keeps the listener from being as safe as it could be.
    var weaknesses: [String] {
        var found: [String] = []
        if !address.isLoopback {
            found.append("the token and the answers go over the network of \(address.host) as plain text")
        }
        if token.utf8.count < Self.goodToken {
            found.append("the token has only \(token.utf8.count) characters")
        }
        return found
    }

    func start(_ feature: ListenerFeature) throws -> TokenServer {
        var limits = LocalServer.Limits()
        // The program is not known before the head of a request, so it has no share of its own.
        (limits.connections, limits.connectionsPerUser, limits.connectionsOfOthers) = (16, 16, 16)
        // A client that only connects soon loses its place, for which others may be waiting.
        limits.request = .seconds(3)
        if user == nil { (limits.bodyBytes, limits.stall) = (0, .seconds(10)) }
        return try TokenServer(
            on: address, names: names, token: token, program: program, policy: try policy(feature.host.settings.api),
            router: router(of: feature), limits: limits)
    }

    private var program: TokenServer.Program { user.map { .init(uid: $0.uid, groups: $0.groups) } ?? .nobody }

    private func policy(_ settings: APISettings) throws(ConfigurationError) -> AccessPolicy {
        guard user != nil else { return AccessPolicy(owners: [], grants: [.read: .init(users: [program.uid])]) }
        var policy = try AccessPolicy(settings)
        policy.owners = []
        policy.grants[.operate] = nil
        return policy
    }

    private func router(of feature: ListenerFeature) -> Router {
        // But for the console: its sessions have all rights of the user.
        var router = user == nil ? Router() : feature.host.router(withSessions: false)
        if user == nil { feature.metrics.addMetricsRoute(to: &router) }
        feature.metrics.addMetricsRoute(to: &router, at: "/metrics")
        return router
    }
}
