import Groundwork

/// What a configuration document says of its application, for people (MAG 1.1); nothing of it has an effect.
public struct ApplicationDescription: Sendable, Equatable {
    public let name: String?
    public let organization: String
    public let description: String?
    /// `confidential` or `public`.
    public let type: String?
    public let registeredBy: String?
    /// Such as `ALL`, `iOS` or `Android`.
    public let environment: String?
    /// Such as `ENABLED`.
    public let status: String?
}

extension GatewayConfiguration {
    /// Read from the document each time, so that a session keeps none of it in memory.
    public var application: ApplicationDescription {
        let client = (try? JSON(parsing: bytes, limit: Self.documentLimit))?["oauth"]?["client"]
        let identity = client?["client_ids"]?[0]
        return ApplicationDescription(
            name: client?["client_name"]?.string, organization: organization,
            description: client?["description"]?.string, type: client?["client_type"]?.string,
            registeredBy: client?["registered_by"]?.string, environment: identity?["environment"]?.string,
            status: identity?["status"]?.string)
    }

    /// The gateway's own endpoints by their keys in the document, in order.
    public var namedEndpoints: [(name: String, path: String)] {
        GatewayEndpoint.allCases.map { ($0.name, path(of: $0)) }
    }

    /// The address of a call by an endpoint's name.
    ///
    /// - Parameter call: a name of `custom` or of ``namedEndpoints``, with or without its ending `_endpoint_path`;
    ///   after it what is added to the path, from a `/` or a `?`.
    /// - Throws: ``GatewayError/endpointUnknown(name:known:)``
    public func address(ofEndpoint call: Substring) throws(GatewayError) -> String {
        let name = call.prefix { $0 != "/" && $0 != "?" }
        let path = [String(name), name + GatewayEndpoint.nameEnding].lazy.compactMap { name in
            customEndpoints[name] ?? namedEndpoints.first { $0.name == name }?.path
        }.first
        guard let path else {
            throw .endpointUnknown(name: String(name), known: customEndpoints.keys.sorted())
        }
        return path + call.dropFirst(name.count)
    }
}

extension GatewayEndpoint {
    /// What the names of endpoints end with in documents.
    static let nameEnding = "_endpoint_path"

    /// Its key in the configuration document, without that of its group.
    var name: String { String(paths[0].split(separator: ".").last ?? "") }
}
