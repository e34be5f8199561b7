import Gateway
public import Groundwork
public import HTTPClient

/// The applications that a gateway offers its users (E13, "enterprise browser"; MAG 12.2).
public struct EnterpriseApps: Sendable {
    public struct App: Sendable, Equatable {
        public let id: String
        public let name: String?
        public let iconURL: String?
        /// Of a web application, which is opened with the access token.
        public let authURL: String?
        /// Of a native application of a phone.
        public let nativeURL: String?
        /// Whatever else the gateway says about it.
        public let custom: JSON?
    }

    /// Fetches an address without any credentials.
    public typealias Fetch = @Sendable (_ url: String) async throws -> HTTPResponse

    private let client: ServiceClient
    private let path: String
    private let gateway: GatewayIdentity
    private let fetch: Fetch

    /// The most applications of a list.
    static let countLimit = 1000

    public init(client: ServiceClient, path: String, gateway: GatewayIdentity, fetch: @escaping Fetch) {
        self.client = client
        self.path = path
        self.gateway = gateway
        self.fetch = fetch
    }

    /// - Throws: ``ServiceError/appsInvalid(reason:)``
    public func list() async throws -> [App] {
        let response = try await client.succeed(
            ServiceRequest("GET", path, headers: ["Accept": "application/json"]), .listApps)
        return try Self.apps(response.body)
    }

    /// - Throws: ``ServiceError/appsInvalid(reason:)``
    static func apps(_ body: [UInt8]) throws(ServiceError) -> [App] {
        guard let answer = try? JSON(parsing: body, limit: ServiceClient.answerLimit),
            let list = answer["enterprise-apps"]?.array, list.count <= countLimit
        else { throw .appsInvalid(reason: "it has no list of applications") }
        var apps: [App] = []
        for entry in list {
            guard let app = entry["app"], let id = app["id"]?.string, !id.isEmpty, !id.contains("/") else {
                throw .appsInvalid(reason: "an application has no usable id")
            }
            func text(_ name: String) -> String? { app[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }
            apps.append(
                App(
                    id: id, name: text("name"), iconURL: text("icon_url"), authURL: text("auth_url"),
                    nativeURL: text("native_url"), custom: app["custom"]))
        }
        return apps
    }

    /// The icon, fetched without credentials.
    ///
    /// - Throws: ``ServiceError/appUnknown(id:)``, ``ServiceError/iconAbsent(id:)``, and what the fetch throws for a
    ///   host that is neither the gateway nor configured.
    public func icon(of id: String) async throws -> HTTPResponse {
        guard let url = try await app(id).iconURL else { throw ServiceError.iconAbsent(id: id) }
        let response = try await fetch(url)
        guard response.status != 404 else { throw ServiceError.iconAbsent(id: id) }
        guard response.isSuccess else { throw ServiceError(response, .fetchIcon) }
        return response
    }

    /// Loads the page of a web application with the access token. Redirections within the gateway are followed with it,
    /// as the public clients' browsers do (MAG 12.2).
    ///
    /// - Returns: the page, or a redirection to another host or to the gateway's login page, which gets no token: there
    ///   a person logs in.
    /// - Throws: ``ServiceError/appAddressForeign(id:)`` if its address is not at the gateway: then nothing is sent.
    ///   ``ServiceError/appNative(id:url:)``, ``ServiceError/appWithoutAddress(id:)``, ``ServiceError/appUnknown(id:)``
    public func open(_ id: String) async throws -> HTTPResponse {
        let app = try await app(id)
        guard let url = app.authURL else {
            throw app.nativeURL.map { ServiceError.appNative(id: id, url: $0) } ?? .appWithoutAddress(id: id)
        }
        guard var address = ownAddress(url) else { throw ServiceError.appAddressForeign(id: id) }
        for _ in 0...Self.redirectionLimit {
            let response: HTTPResponse
            if Self.isLogin(address) {
                response = try await fetch(address.url)
            } else {
                var request = ServiceRequest("GET", address.url)
                request.needsUser = true
                response = try await client.answer(request)
            }
            guard (300..<400).contains(response.status) else {
                guard response.isSuccess else { throw ServiceError(response, .openApp) }
                return response
            }
            guard let location = response.headers.first("Location"), let next = ownAddress(location),
                !Self.isLogin(next)
            else { return response }
            address = next
        }
        throw ServiceError.answerInvalid(.openApp, reason: "its pages lead to one another without end")
    }

    /// How many redirections are followed.
    static let redirectionLimit = 5

    /// - Parameter text: a URL, or a path of the gateway's host.
    /// - Returns: `nil` for an address that is not at the gateway.
    private func ownAddress(_ text: String) -> HTTPSAddress? {
        if (try? HTTPSAddress.checkPath(text)) != nil {
            return HTTPSAddress(host: gateway.host, port: gateway.port, path: text)
        }
        guard let address = try? HTTPSAddress(text), address.host == gateway.host, address.port == gateway.port else {
            return nil
        }
        return address
    }

    private static func isLogin(_ address: HTTPSAddress) -> Bool {
        address.url.prefix { $0 != "?" }.hasSuffix("/connect/enterprise/browser/websso/login")
    }

    private func app(_ id: String) async throws -> App {
        guard let app = try await list().first(where: { $0.id == id }) else { throw ServiceError.appUnknown(id: id) }
        return app
    }
}
