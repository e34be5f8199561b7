import Cryptography
public import Groundwork

/// A host as the local API and the vault have it.
extension HostSecurity {
    /// The longest time limit of a call, in seconds.
    public static let timeoutLimit: Int64 = 3600

    public var json: JSON {
        var members: [String: JSON] = [
            "host": .string(host), "port": .integer(Int64(port)), "public": .bool(isPublic),
            "certificates": .array(security.anchors.map { .string(Base64.encode($0.der)) }),
            "pins": .array(security.pins.map { .string(Base64.encode($0.sha256)) }),
            "publicAuthorities": .bool(security.usesPublicAnchors), "nameCheck": .string(security.nameCheck.rawValue),
        ]
        members["timeoutSeconds"] = timeout.map { .integer($0.components.seconds) }
        return .object(members)
    }

    /// - Parameter json: ``json``; certificates in any form of MAG 1.1, pins in hexadecimal or base64.
    /// - Throws: ``GatewayError/hostConfigurationInvalid(host:reason:)``, ``GatewayError/hostTrustMissing(host:)``
    public init(json: JSON) throws(GatewayError) {
        let host = json["host"]?.string ?? ""
        func fault(_ reason: String) -> GatewayError { .hostConfigurationInvalid(host: host, reason: reason) }
        func flag(_ member: String) throws(GatewayError) -> Bool {
            guard let value = json[member], value != .null else { return false }
            guard let flag = value.bool else { throw fault("\(member) is neither true nor false") }
            return flag
        }
        func list(_ member: String) throws(GatewayError) -> [JSON] {
            guard let value = json[member], value != .null else { return [] }
            guard let list = value.array, list.count <= 16 else {
                throw fault("\(member) is not an array of at most 16")
            }
            return list
        }
        var anchors: [Certificate] = []
        for element in try list("certificates") {
            do throws(CertificateText.Fault) {
                anchors += try CertificateText.certificates(element)
            } catch {
                throw fault("one of its certificates \(error.fault)")
            }
        }
        var pins: [PublicKeyPin] = []
        for element in try list("pins") {
            guard let pin = element.string.flatMap({ PublicKeyPin($0.trimmed) }) else {
                throw fault("pins contains something that is not a SHA-256 in hexadecimal or base64")
            }
            pins.append(pin)
        }
        guard let check = ServerTrust.NameCheck(rawValue: json["nameCheck"]?.string ?? "strict") else {
            throw fault("nameCheck is not one of \(ServerTrust.NameCheck.names)")
        }
        var timeout: Duration?
        if let value = json["timeoutSeconds"], value != .null {
            guard let seconds = value.integer, (1...Self.timeoutLimit).contains(seconds) else {
                throw fault("timeoutSeconds is not a number from 1 to \(Self.timeoutLimit)")
            }
            timeout = .seconds(seconds)
        }
        try self.init(
            host: host, port: Int(json["port"]?.integer ?? 443), isPublic: try flag("public"), anchors: anchors,
            pins: pins, usesPublicAnchors: try flag("publicAuthorities"), nameCheck: check, timeout: timeout)
    }
}

extension ServerTrust.NameCheck {
    /// All, for messages.
    public static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
