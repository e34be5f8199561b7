import Cryptography
public import Groundwork
public import HTTPClient

/// Where a back end is, and what is sent with every request to it (MPIN 6, `Init`).
public struct MPinConfiguration: Sendable, Equatable {
    /// `https`, or `http` to this machine; without a final slash.
    public private(set) var url: String
    /// The first part of the path of the relying party service.
    public var prefix = "rps"
    /// Sent with every request, to every server.
    public var headers: HTTPHeaders = [:]
    /// Sent with every request as `X-MIRACL-Client-ID`.
    public var clientID: String?
    /// PEM certificates at which a server's chain may end; `nil` means the system's.
    public var authorities: String?

    public init(url: String) {
        self.url = String(url[..<(url.lastIndex { $0 != "/" }.map { url.index(after: $0) } ?? url.startIndex)])
    }

    /// - Parameter document: `backend` (or `RPA_server`), and if wanted `rps_prefix` (or `rpsPrefix`), `headers`,
    ///   `clientID` and `authorities`.
    /// - Throws: ``MPinError/configurationInvalid(reason:)``
    public init(_ document: JSON) throws(MPinError) {
        guard let url = document["backend"]?.string ?? document["RPA_server"]?.string else {
            throw .configurationInvalid(reason: "it names no back end")
        }
        self.init(url: url)
        if let prefix = document["rps_prefix"]?.string ?? document["rpsPrefix"]?.string, !prefix.isEmpty {
            self.prefix = prefix
        }
        for (name, value) in (document["headers"]?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let text = value.string else {
                throw .configurationInvalid(reason: "a header's value is not a text")
            }
            headers.add(name, text)
        }
        clientID = document["clientID"]?.string
        authorities = document["authorities"]?.string
        try check()
    }

    var document: JSON {
        var members: [String: JSON] = ["backend": .string(url), "rps_prefix": .string(prefix)]
        members["headers"] = .object(
            Dictionary(headers.pairs.map { ($0.name, .string($0.value)) }, uniquingKeysWith: { _, last in last }))
        members["clientID"] = clientID.map(JSON.string)
        members["authorities"] = authorities.map(JSON.string)
        return .object(members)
    }

    /// The address without its scheme, by which what is stored is kept apart (MPIN 6).
    public var key: String {
        for scheme in ["https://", "http://"] where url.lowercased().hasPrefix(scheme) {
            return String(url.dropFirst(scheme.count))
        }
        return url
    }

    /// The address of the client settings (MPIN 5.4).
    var settingsURL: String { "\(url)/\(prefix)/clientSettings" }

    /// - Throws: ``MPinError/configurationInvalid(reason:)``
    public func check() throws(MPinError) {
        guard WebAddress(settingsURL) != nil, !url.contains("?"), !prefix.isEmpty, !prefix.contains("?") else {
            throw .configurationInvalid(reason: "its address is neither https nor of this machine")
        }
        for field in headers.fields {
            guard HTTPHeaders.isToken(field.name), field.name.utf8.count <= 256,
                !Self.own.contains(field.name.lowercased())
            else {
                throw .configurationInvalid(reason: "a header has a name that cannot be used")
            }
            guard field.value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }), field.value.utf8.count <= 4096 else {
                throw .configurationInvalid(reason: "the header \(field.name) is not printable")
            }
        }
        guard headers.count <= 32 else { throw .configurationInvalid(reason: "it has more than 32 headers") }
        guard clientID.map(HTTPHeaders.isPlainValue) ?? true else {
            throw .configurationInvalid(reason: "its client id is not printable")
        }
        _ = try security
    }

    /// How the servers must prove themselves. Those of this machine, the only ones without TLS, need not (``WebAddress``).
    ///
    /// - Throws: ``MPinError/configurationInvalid(reason:)``
    var security: ServerSecurity {
        get throws(MPinError) {
            do throws(CryptographyError) {
                return try ServerSecurity(authorities: authorities, allowsPlain: true)
            } catch {
                throw .configurationInvalid(reason: "its authorities are not certificates in PEM: \(error.reason)")
            }
        }
    }

    /// What a request says by itself.
    private static let own: Set<String> = [
        "accept", "connection", "content-length", "content-type", "host", "transfer-encoding", "x-miracl-client-id",
    ]
}
