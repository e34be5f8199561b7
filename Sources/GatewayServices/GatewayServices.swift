public import Directories
import Gateway
import HTTPClient

/// The services of one gateway, called in the name of its session's user or board.
public struct GatewayServices: Sendable {
    public let directory: Directory
    public let devices: DeviceServices
    public let apps: EnterpriseApps
    private let client: ServiceClient
    private let storagePath: String

    /// - Parameter http: for requests without credentials.
    public init(session: GatewaySession, http: HTTPClient) {
        let configuration = session.configuration
        client = ServiceClient(of: session)
        storagePath = configuration.path(of: .storage)
        directory = Directory(server: client, base: configuration.path(of: .scim))
        devices = DeviceServices(
            client: client, listPath: configuration.path(of: .deviceList),
            metadataPath: configuration.path(of: .deviceMetadata))
        apps = EnterpriseApps(
            client: client, path: configuration.path(of: .enterpriseBrowser), gateway: configuration.identity
        ) { url in
            guard let address = try? HTTPSAddress(url) else {
                throw ServiceError.appsInvalid(reason: "the address of an icon is not an https URL")
            }
            var request = HTTPRequest("GET", address.url, trust: try session.trust(for: address.host))
            request.responseLimit = 1 << 20
            do {
                return try await http.send(request)
            } catch HTTPError.cancelled {
                throw CancellationError()
            } catch let error as HTTPError {
                throw GatewayError.noAnswer(.call, error)
            }
        }
    }

    /// - Throws: ``ItemError/endpointMissing``
    public func storage() throws(ItemError) -> CloudStorage { try CloudStorage(client: client, path: storagePath) }
}
