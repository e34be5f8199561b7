import AgentCore
import Gateway
import Groundwork
import HTTPClient
import LocalAPI

/// A request to the forward proxy, strictly read: where it goes, and what of it is passed on. Pure.
package struct ForwardRequest: Equatable {
    package enum Server: Equatable {
        case gateway(AccountName)
        /// Its port is 443 unless the request names another than 80.
        case host(String, Int)
    }

    package let method: String
    package let server: Server
    /// With the query, as it was sent.
    package let path: String
    /// Of the path, decoded.
    package let segments: [String]
    package let headers: HTTPHeaders

    /// - Throws: ``ProxyError/badTarget(reason:)``, ``ProxyError/methodRefused(_:)``
    package init(method: String, target: String, headers: HTTPHeaders) throws(ProxyError) {
        guard !PassedFields.refuses(method: method) else { throw .methodRefused(method) }
        let hosts = headers.all("Host")
        guard hosts.count <= 1 else { throw .badTarget(reason: "names several hosts") }
        let (authority, path) = try Self.parts(of: target, host: hosts.first)
        guard path.hasPrefix("/") else { throw .badTarget(reason: "has no path") }
        let segments: [String]
        do {
            segments = try StrictPath.segments(of: path.prefix { $0 != "?" })
        } catch {
            throw .badTarget(reason: "has a path that leads elsewhere, or is ambiguous")
        }
        let address: HTTPSAddress
        let server: Server
        do {
            let parts = HostName.split(authority)
            let port = parts.port.flatMap { $0 == "80" ? nil : $0 } ?? "443"
            address = try HTTPSAddress("https://\(parts.host):\(port)\(path)")
            server = try Self.server(address.host, address.port, isPlain: port == "443")
        } catch let error as AddressFault {
            throw .badTarget(reason: "is not valid: \(error.reason)")
        } catch {
            throw .badTarget(reason: "names no account")
        }
        self.method = method
        self.server = server
        self.path = path
        self.segments = segments
        self.headers = Self.passedOn(headers, toGateway: true)
    }

    /// Authority and path: of the absolute form, whatever `Host` says (RFC 9112 section 3.2.2), or of the origin form.
    private static func parts(of target: String, host: String?) throws(ProxyError) -> (String, String) {
        if target.hasPrefix("/") {
            guard let host, !host.isEmpty else { throw .badTarget(reason: "names no host") }
            guard !host.contains("/"), !host.contains("?") else {
                throw .badTarget(reason: "names an invalid host")
            }
            return (host, target)
        }
        guard target.lowercased().hasPrefix("http://") else {
            throw .badTarget(reason: "is neither a path nor an http address")
        }
        let rest = target.dropFirst(7)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let path = rest[end...]
        return (String(rest[..<end]), path.hasPrefix("/") ? String(path) : "/" + path)
    }

    private struct NoAccount: Error {}

    private static func server(_ host: String, _ port: Int, isPlain: Bool) throws -> Server {
        guard host == ProgramGrant.gatewayHost || host.hasSuffix(".\(ProgramGrant.gatewayHost)") else {
            return .host(host, port)
        }
        guard isPlain else { throw NoAccount() }
        guard host != ProgramGrant.gatewayHost else { return .gateway(.gateway) }
        guard let name = AccountName(String(host.dropLast(ProgramGrant.gatewayHost.count + 1))) else {
            throw NoAccount()
        }
        return .gateway(name)
    }

    // MARK: Header fields

    /// - Parameter toGateway: whether the agent's own credentials go with it.
    package static func passedOn(_ headers: HTTPHeaders, toGateway: Bool) -> HTTPHeaders {
        var dropped = PassedFields.ofConnection
        if toGateway { dropped.formUnion(PassedFields.ofAgent.union(PassedFields.ofTarget)) }
        // Whatever the sender says is for this connection only.
        for list in headers.all("Connection") {
            for name in list.split(separator: ",") { dropped.insert(PassedFields.plain(String(name).trimmed)) }
        }
        return HTTPHeaders(headers.fields.filter { !dropped.contains(PassedFields.plain($0.name)) })
    }
}
