import AgentCertificates
import AgentCore
import AgentGateway
import Gateway
import Groundwork
import HTTPClient
import LocalAPI
import Synchronization

/// The forward proxy: programs send a request to a Unix socket, and the agent makes the call for them. They never see a
/// token.
extension ProxyFeature {
    /// Bodies up to this many bytes are collected, and can be sent again after a refused token.
    private static let keptBody = 256 << 10

    /// - Returns: `nil` if the settings do not have the proxy.
    /// - Throws: ``ConfigurationError/unknownPeer(name:)``
    package func relay() throws(ConfigurationError) -> Relay? {
        guard host.settings[ProxySettings.self].enabled else { return nil }
        let group = try AccessPolicy.optionalGroup(host.settings[ProxySettings.self].group)
        return Relay(socketPath: host.settings[ProxySettings.self].socket, group: group) { head in
            let request = try ForwardRequest(method: head.method, target: head.target, headers: head.headers)
            let (program, use) = (LocalProgram(head), request.use)
            return { body, writer in
                let permit = try await self.authorizer.permit(
                    program, use, at: try await self.gateways.account(use.account).link)
                try await permit.run(of: self.authorizer.book) {
                    try await self.forward(request, body, writer, by: permit)
                }
            }
        }
    }

    private func forward(
        _ request: ForwardRequest, _ body: RelayBody, _ writer: RelayWriter, by permit: CallAuthorization
    ) async throws {
        let link = permit.link
        try check(request, at: link)
        var call = APICall(request.method, request.path)
        call.headers = request.headers
        if case .host(let host, let port) = request.server {
            call.path = "https://\(host):\(port)\(request.path)"
            call.identity = try await certificates.identity(forHost: "\(host):\(port)")
        }
        try await Self.take(body, into: &call)
        let session = link.session
        let prepared = call
        let answer = try await session.acting(as: permit.principal, loggedInAt: permit.loggedInAt) { principal in
            var call = prepared
            (call.principal, call.loggedInAt) = (principal, permit.loggedInAt)
            return try await session.open(call)
        }
        // Its length could be read in two ways (RFC 9112 section 6.3), and a part of it be taken for the whole.
        guard !Self.isAmbiguous(answer.headers) else { throw ProxyError.answerAmbiguous }
        writer.begin(
            answer.status, ForwardRequest.passedOn(answer.headers, toGateway: false),
            length: Self.length(of: answer, to: request.method))
        guard request.method != "HEAD" else { return }
        try await answer.forEachPiece { await writer.send($0) }
    }

    /// - Throws: ``ProxyError/gatewayByHost(_:)``, ``GrantError/reserved(path:)``
    private func check(_ request: ForwardRequest, at link: Link) throws {
        switch request.server {
        case .host(let host, let port):
            let identity = link.gateway.identity
            guard host != identity.host || port != identity.port else { throw ProxyError.gatewayByHost(host) }
        case .gateway:
            guard !link.gateway.reserves(request.segments) else {
                throw GrantError.reserved(path: DisplayText.clean(String(request.path.prefix { $0 != "?" })))
            }
        }
    }

    /// Collects a small body; a larger one is passed on while it comes.
    private static func take(_ body: RelayBody, into call: inout APICall) async throws {
        var first: [UInt8] = []
        var isWhole = false
        while first.count <= keptBody {
            guard let piece = try await body.next() else {
                isWhole = true
                break
            }
            first += piece
        }
        guard !isWhole else {
            if body.length != 0 { call.body = first }
            return
        }
        let source = UploadSource(first: first, rest: body)
        call.feed = { try source.feed() }
    }

    /// Whether an answer says in two ways where it ends.
    package static func isAmbiguous(_ headers: HTTPHeaders) -> Bool {
        headers.first("Transfer-Encoding") != nil && headers.first("Content-Length") != nil
    }

    /// How long the answer's body will be, in bytes; `nil` if unknown.
    private static func length(of answer: CallAnswer, to method: String) -> Int? {
        if method != "HEAD", case .whole(let bytes) = answer.body { return bytes.count }
        let stated = Set(answer.headers.all("Content-Length"))
        guard stated.count == 1 else { return nil }
        return stated.first.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// A body that is too large to be kept: it can be sent once.
private final class UploadSource: Sendable {
    private let first: Mutex<[UInt8]?>
    private let rest: RelayBody

    init(first: [UInt8], rest: RelayBody) {
        self.first = Mutex(first)
        self.rest = rest
    }

    /// - Throws: ``ProxyError/bodyGone`` the second time.
    func feed() throws -> BodyFeed {
        guard let bytes = first.withLock({ $0.take() }) else { throw ProxyError.bodyGone }
        let (feed, rest) = (BodyFeed(length: rest.length), rest)
        // Ends with the request: its body ends then, or is abandoned.
        Task {
            // What the API does not want is discarded: the program reads the answer after sending everything.
            guard await feed.send(bytes) else { return rest.abandon() }
            do {
                while let piece = try await rest.next() {
                    guard await feed.send(piece) else { return rest.abandon() }
                }
                if feed.length == nil { feed.finish() }
            } catch {
                feed.end()
            }
        }
        return feed
    }
}

extension ForwardRequest {
    /// Whose credentials it gets; other hosts get those of the default account.
    package var account: AccountName { if case .gateway(let name) = server { name } else { .gateway } }

    package var use: GrantUse {
        let host: String =
            if case .host(let name, let port) = server { "\(name):\(port)" } else { ProgramGrant.gatewayHost }
        return GrantUse(account: account, target: .init(host: host, segments: segments))
    }
}

extension GatewayConfiguration {
    /// Whether the path is one of the gateway's own, by which the agent manages the board's identity. A server may
    /// disregard case and parameters in segments.
    package func reserves(_ segments: [String]) -> Bool {
        let wanted = ProgramGrant.plain(segments)
        // The others serve the programs themselves.
        let own = Set(GatewayEndpoint.allCases).subtracting([.userInfo, .scim, .storage])
        if Self.letsIn(segments) { return true }
        return own.contains { endpoint in
            var path = self.path(of: endpoint)
            if !path.hasPrefix("/") {
                guard let address = try? HTTPSAddress(path), address.host == identity.host,
                    address.port == identity.port
                else { return false }
                path = String(address.url.dropFirst("https://\(address.host):\(address.port)".count))
                if !identity.prefix.isEmpty, path.hasPrefix("/\(identity.prefix)/") {
                    path = String(path.dropFirst(identity.prefix.count + 1))
                }
            }
            guard let own = try? StrictPath.segments(of: path.prefix { $0 != "?" }) else { return false }
            return wanted.starts(with: ProgramGrant.plain(own))
        }
    }

    /// Whether a request there, in a user's name, lets another device in (MAG E19): no configuration names the address.
    package static func letsIn(_ segments: [String]) -> Bool {
        let wanted = ProgramGrant.plain(segments)
        return zip(wanted, wanted.dropFirst()).contains { ["device", "qrcode"].contains($0) && $1 == "authorization" }
    }
}
