import Cryptography
import Groundwork
import HTTPClient

extension GatewayConfiguration {
    /// Reads and checks a document.
    ///
    /// - Throws: ``GatewayError/configurationUnreadable(source:reason:)`` when it is not a JSON object,
    ///   ``GatewayError/configurationInvalid(faults:)`` with all its faults.
    public init(parsing document: [UInt8]) throws(GatewayError) {
        try self.init(parsing: document, source: "the document")
    }

    init(parsing document: [UInt8], source: String) throws(GatewayError) {
        let json: JSON
        do {
            json = try JSON(parsing: document, limit: Self.documentLimit)
        } catch {
            throw .configurationUnreadable(source: source, reason: error.message)
        }
        guard case .object = json else {
            throw .configurationUnreadable(source: source, reason: "it is \(json.kind), not an object")
        }
        self = try ConfigurationParser(json).configuration(bytes: document)
    }
}

/// Turns a configuration document into a ``GatewayConfiguration``, or into the list of all its faults.
struct ConfigurationParser {
    /// The maximum number of characters of `O` in a certificate request (RFC 5280, ub-organization-name).
    static let organizationLimit = 64
    static let certificateLimit = 64
    static let ignoredKeyLimit = 100
    /// A small board needs minutes to generate a longer key.
    static let keyBitsLimit = 8192

    private static let client = "oauth.client.client_ids[0]."
    private static let sdk = "mag.mobile_sdk."

    private var reader: DocumentReader

    init(_ document: JSON) { reader = DocumentReader(document) }

    /// - Parameter bytes: the document as it was received.
    consuming func configuration(bytes: [UInt8]) throws(GatewayError) -> GatewayConfiguration {
        var parser = self
        let identity = parser.gateway()
        let organization = parser.organization()
        let masterID = parser.reader.requiredText(
            Self.client + "client_id", fix: "the client id that the gateway exported")
        let secret = parser.reader.text(Self.client + "client_secret")
        let scope = parser.scope()
        let redirectURI = parser.reader.text(Self.client + "redirect_uri")
        let endpoints = parser.endpoints()
        let custom = parser.customEndpoints()
        var security = ServerSecurity(anchors: parser.anchors(), pins: parser.pins())
        security.usesPublicAnchors = parser.reader.flag(Self.sdk + "trusted_public_pki", default: false)
        let singleSignOn = parser.reader.flag(Self.sdk + "sso_enabled", default: true)
        let sendsLocation = parser.reader.flag(Self.sdk + "location_enabled", default: false)
        let sendsTelephoneNumber = parser.reader.flag(Self.sdk + "msisdn_enabled", default: false)
        let keyBits = parser.reader.wholeNumber(
            Self.sdk + "client_cert_rsa_keybits", in: 0...Self.keyBitsLimit, default: 2048)
        let signing = Self.client + "client_key_custom.openid_registration.response.id_token_signed_response_alg"
        let announcesPublishedKeys = parser.reader.text(signing) == "RS256"
        let proximity = parser.proximity()
        parser.checkTrust(security)
        parser.acceptInformation()

        let faults = parser.reader.faults
        guard faults.isEmpty, let identity, let organization, let masterID else {
            throw .configurationInvalid(faults: faults)
        }
        return GatewayConfiguration(
            identity: identity, organization: organization, masterClientID: masterID,
            // A secret equal to the id is how exporters write "none" (MAG 3).
            staticSecret: secret.flatMap { $0 == masterID ? nil : SecretBytes(utf8: $0) }, scope: scope,
            redirectURI: redirectURI, endpoints: endpoints, customEndpoints: custom, security: security,
            singleSignOn: singleSignOn, sendsLocation: sendsLocation,
            sendsTelephoneNumber: sendsTelephoneNumber, keyBits: max(2048, keyBits),
            announcesPublishedKeys: announcesPublishedKeys, proximity: proximity, warnings: parser.reader.warnings,
            ignoredKeys: parser.reader.unknownPaths(limit: Self.ignoredKeyLimit), bytes: bytes)
    }

    // MARK: Identity and client

    private mutating func gateway() -> GatewayIdentity? {
        let host = reader.requiredText("server.hostname", fix: "the DNS name or IP address of the gateway")
        let port = reader.wholeNumber("server.port", in: 1...65_535, default: 8443)
        let prefix = (reader.text("server.prefix") ?? "").trimming { $0 == "/" }
        if let host, !HostName.isValid(host) {
            reader.fail(
                "server.hostname", "is not a host name: \(JSON.string(host).text)",
                fix: "write the DNS name or IP address alone, without https:// and without port")
            return nil
        }
        if !prefix.utf8.allSatisfy({ PercentEncoding.isUnreserved($0) || $0 == UInt8(ascii: "/") }) {
            reader.fail(
                "server.prefix", "has characters that do not belong in a path",
                fix: "write the bare word that follows the port in the gateway's URLs, or \"\"")
            return nil
        }
        return host.map { GatewayIdentity(host: $0, port: port, prefix: String(prefix)) }
    }

    private mutating func organization() -> String? {
        let path = "oauth.client.organization"
        guard let name = reader.requiredText(path, fix: "the organization of the client") else { return nil }
        guard name.unicodeScalars.count <= Self.organizationLimit else {
            reader.fail(
                path, "has \(name.unicodeScalars.count) characters",
                fix: "leave at most \(Self.organizationLimit), as many as a certificate can contain")
            return nil
        }
        return name
    }

    private mutating func scope() -> String? {
        let path = Self.client + "scope"
        guard let text = reader.text(path) else { return nil }
        // RFC 6749 section 3.3: printable ASCII without the double quote and the backslash.
        guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }) else {
            reader.fail(path, "has characters that no scope may have", fix: "write the scopes separated by blanks")
            return nil
        }
        return text.split(separator: " ").joined(separator: " ")
    }

    // MARK: Endpoints

    private mutating func endpoints() -> [GatewayEndpoint: String] {
        var endpoints: [GatewayEndpoint: String] = [:]
        for endpoint in GatewayEndpoint.allCases {
            var chosen: String?
            for path in endpoint.paths {
                let address = reader.text(path).flatMap { checkedAddress($0, at: path) }
                chosen = chosen ?? address
            }
            endpoints[endpoint] = chosen ?? endpoint.defaultPath
        }
        return endpoints
    }

    private mutating func customEndpoints() -> [String: String] {
        guard let members = reader.value("custom")?.object else { return [:] }
        return members.compactMapValues { $0.string.flatMap { try? Self.address($0) } }
    }

    private mutating func checkedAddress(_ text: String, at path: String) -> String? {
        do {
            let address = try Self.address(text)
            if address != text {
                reader.warn(path, "does not begin with /, and is taken as if it did", fix: "write \(address)")
            }
            return address
        } catch {
            reader.fail(path, error.fault, fix: error.fix)
            return nil
        }
    }

    private struct AddressFault: Error {
        let fault: String
        let fix: String
    }

    /// A path with its leading slash, or an absolute `https` URL (MAG 1.1 note b).
    private static func address(_ text: String) throws(AddressFault) -> String {
        if text.contains("://") {
            guard text.lowercased().hasPrefix("https://") else {
                throw AddressFault(
                    fault: "is not an https URL", fix: "write a path, or a URL that begins with https://")
            }
            guard (try? HTTPSAddress(text)) != nil else {
                throw AddressFault(fault: "is not a URL", fix: "write a path that begins with /")
            }
            return text
        }
        let path = text.hasPrefix("/") ? text : "/" + text
        guard (try? HTTPSAddress.checkPath(path)) != nil else {
            throw AddressFault(fault: "is not a path", fix: "write a path that begins with /, without blanks")
        }
        return path
    }

    // MARK: Trust

    private mutating func anchors() -> [Certificate] {
        let path = "server.server_certs"
        var anchors: [Certificate] = []
        for (index, element) in reader.list(path, limit: Self.certificateLimit).enumerated() {
            do {
                anchors += try CertificateText.certificates(element)
            } catch {
                reader.fail(
                    "\(path)[\(index)]", error.fault,
                    fix: "write the lines of one PEM certificate as an array of strings")
            }
        }
        return anchors
    }

    private mutating func pins() -> [PublicKeyPin] {
        let path = Self.sdk + "trusted_cert_pinned_public_key_hashes"
        var pins: [PublicKeyPin] = []
        for (index, element) in reader.list(path, limit: Self.certificateLimit).enumerated() {
            if let pin = element.string.flatMap({ PublicKeyPin($0.trimmed) }) {
                pins.append(pin)
            } else {
                reader.fail(
                    "\(path)[\(index)]", "is not a public key hash",
                    fix: "write the SHA-256 of the server's public key as 64 hex digits or in base64")
            }
        }
        return pins
    }

    private mutating func checkTrust(_ security: ServerSecurity) {
        if !reader.flag(Self.sdk + "allow_ssl_pinning", default: true) {
            reader.warn(
                Self.sdk + "allow_ssl_pinning",
                "is false, which this agent does not follow: servers are always checked",
                fix: "remove it")
        }
        // Faults of the given anchors and pins are already reported.
        guard reader.faults.isEmpty, !security.isProvable else { return }
        reader.fail(
            "server.server_certs", "is missing, and so is every other way to trust the gateway",
            fix: "write the gateway's CA certificate, or a hash in \(Self.sdk)trusted_cert_pinned_public_key_hashes, "
                + "or set \(Self.sdk)trusted_public_pki")
    }

    // MARK: Other values

    private mutating func proximity() -> GatewayConfiguration.ProximityParameters {
        GatewayConfiguration.ProximityParameters(
            serviceUUID: uuid("mag.ble.msso_ble_service_uuid"),
            characteristicUUID: uuid("mag.ble.msso_ble_characteristic_uuid"),
            leastSignalStrength: reader.wholeNumber("mag.ble.msso_ble_rssi", in: -127...20, default: -80))
    }

    /// Without it there is no log-in by Bluetooth, and everything else works: published samples have bad ones.
    private mutating func uuid(_ path: String) -> String? {
        guard let text = reader.text(path) else { return nil }
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12], Hex.decode(groups.joined()) != nil else {
            reader.warn(
                path, "is not a UUID: \(DisplayText.oneLine(text, limit: 64)); there is no log-in by Bluetooth",
                fix: "write it as 980c2f36-bde3-11e4-8dfc-aa07a5b093db")
            return nil
        }
        return text.lowercased()
    }

    private mutating func acceptInformation() {
        _ = reader.flag(Self.sdk + "enable_public_key_pinning", default: false)
        reader.accept(
            ["description", "client_name", "client_type", "registered_by", "client_custom"].map { "oauth.client." + $0 }
        )
        reader.accept(
            ["environment", "status", "registered_by", "service_ids", "account_plan_mapping_ids", "client_key_custom"]
                .map { Self.client + $0 })
        // Where a board gets its location from is a matter of its own settings, not of the gateway.
        reader.accept([Self.sdk + "location_provider", Self.sdk + "storage"])
        // Not part of the protocol, which has a single fixed port (MAG 9.1): the port of the lab's broker.
        reader.accept(["mas.mqtt-port"])
    }
}
