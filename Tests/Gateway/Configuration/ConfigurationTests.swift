import Cryptography
import Foundation
import Groundwork
import Testing

@testable import Gateway

@Suite("Configuration document")
struct ConfigurationTests {
    private func parsed(_ change: (inout [String: Any]) -> Void = { _ in }) throws -> GatewayConfiguration {
        try GatewayConfiguration(parsing: Documents.document(change))
    }

    private func faults(_ change: (inout [String: Any]) -> Void) throws -> [ConfigurationFault] {
        do {
            _ = try parsed(change)
            return []
        } catch GatewayError.configurationInvalid(let faults) {
            return faults
        }
    }

    @Test("a configuration document gives the gateway, the client and its anchors (MAG checklist 4)")
    func complete() throws {
        let configuration = try parsed()
        #expect(configuration.identity == GatewayIdentity(host: "gw.lab.test", port: 8443, prefix: ""))
        #expect(configuration.organization == "Lab Org")
        #expect(configuration.masterClientID == "5c0e")
        #expect(configuration.scope == "openid msso mas_messaging")
        #expect(configuration.anchors == [Documents.authority])
        #expect(configuration.ignoredKeys == [])
    }

    @Test("a configuration document with the three required keys has all defaults of MAG 0.1 and 1.1")
    func defaults() throws {
        let configuration = try parsed {
            $0.set("server.port", to: nil)
            $0.set("oauth.client.client_ids.0.scope", to: nil)
        }
        #expect(configuration.identity.port == 8443)
        #expect(configuration.scope == nil)
        #expect(configuration.singleSignOn)
        #expect(configuration.keyBits == 2048)
        #expect(configuration.endpoints[.renew] == "/connect/device/renew")
        #expect(configuration.endpoints[.registerClient] == "/connect/device/register/client")
    }

    @Test(
        "a document with a missing, blank or wrong value is refused with path and fix (MAG checklist 4, 5)",
        arguments: [
            ("server.hostname", nil, "server.hostname", "is missing"),
            ("server.hostname", "  ", "server.hostname", "is blank"),
            ("server.hostname", "https://gw", "server.hostname", "is not a host name"),
            ("server.hostname", 5, "server.hostname", "is a number, not a string"),
            ("server.port", "8443", "server.port", "is a string, not a number"),
            ("server.port", 70_000, "server.port", "is 70000"),
            ("server.port", 1.5, "server.port", "is 1.5"),
            ("server.prefix", "a b", "server.prefix", "has characters"),
            ("server.server_certs", "x", "server.server_certs", "is a string, not an array"),
            ("server.server_certs.0", ["nonsense"], "server.server_certs[0]", "is not a certificate"),
            ("server.server_certs.0", [1], "server.server_certs[0]", "has lines that are not strings"),
            ("server.server_certs", nil, "server.server_certs", "is missing, and so is every other way"),
            ("oauth.client.organization", nil, "oauth.client.organization", "is missing"),
            (
                "oauth.client.organization", String(repeating: "x", count: 65), "oauth.client.organization",
                "has 65 characters"
            ),
            ("oauth.client.client_ids", [Int](), "oauth.client.client_ids[0].client_id", "is missing"),
            ("oauth.client.client_ids.0.client_id", " ", "oauth.client.client_ids[0].client_id", "is blank"),
            (
                "oauth.system_endpoints.token_endpoint_path", 1, "oauth.system_endpoints.token_endpoint_path",
                "is a number"
            ),
            (
                "oauth.system_endpoints.token_endpoint_path", "http://h/x",
                "oauth.system_endpoints.token_endpoint_path", "is not an https URL"
            ),
            (
                "oauth.system_endpoints.token_endpoint_path", "//h/x", "oauth.system_endpoints.token_endpoint_path",
                "is not a path"
            ),
            ("mag.mobile_sdk.sso_enabled", "true", "mag.mobile_sdk.sso_enabled", "is a string, not a boolean"),
            (
                "mag.mobile_sdk.trusted_cert_pinned_public_key_hashes", ["zz"],
                "mag.mobile_sdk.trusted_cert_pinned_public_key_hashes[0]", "is not a public key hash"
            ),
            ("mag.mobile_sdk.client_cert_rsa_keybits", 1 << 20, "mag.mobile_sdk.client_cert_rsa_keybits", "is 1048576"),
        ] as [(String, (any Sendable)?, String, String)])
    func refused(place: String, value: (any Sendable)?, path: String, fault: String) throws {
        let faults = try faults { $0.set(place, to: value) }
        #expect(faults.count == 1)
        let found = try #require(faults.first)
        #expect(found.path == path)
        #expect(found.fault.hasPrefix(fault))
        #expect(!found.fix.isEmpty)
    }

    @Test("a configuration document with a bad UUID is taken with a warning, without log-in by Bluetooth")
    func badUUID() throws {
        let configuration = try parsed { $0.set("mag.ble.msso_ble_service_uuid", to: "980c2f36") }
        #expect(configuration.proximity.serviceUUID == nil)
        #expect(configuration.warnings.map(\.path) == ["mag.ble.msso_ble_service_uuid"])
        #expect(configuration.warnings.first?.fault.contains("980c2f36") == true)
    }

    @Test("a configuration document reports all its faults at once, each in the message, with code 100203")
    func allFaults() throws {
        let document = try Documents.document {
            $0.set("server.hostname", to: nil)
            $0.set("oauth.client.organization", to: "")
            $0.set("oauth.client.client_ids.0.client_id", to: 7)
        }
        #expect { try GatewayConfiguration(parsing: document) } throws: { error in
            guard let error = error as? GatewayError, case .configurationInvalid(let faults) = error else {
                return false
            }
            return faults.map(\.path) == [
                "server.hostname", "oauth.client.organization", "oauth.client.client_ids[0].client_id",
            ] && error.localCode == 100_203 && error.code == "gateway.configuration-invalid"
                && faults.allSatisfy { error.message.contains($0.path) && error.remedy?.contains($0.fix) == true }
        }
    }

    @Test("a configuration document's certificates may be lines, one PEM text or without markers")
    func certificateForms() throws {
        let pem = Documents.authority.pem
        let bare = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        for form in [pem.split(separator: "\n").map(String.init), pem, bare] as [Any] {
            #expect(try parsed { $0.set("server.server_certs", to: [form]) }.anchors == [Documents.authority])
        }
    }

    @Test("a configuration document's pins may be hex or base 64, and then need no certificate")
    func pinForms() throws {
        let hash = Documents.authority.spkiSHA256
        let forms = [Hex.encode(hash), Base64.encode(hash), Base64.encode(hash, alphabet: .urlSafe)]
        let configuration = try parsed {
            $0.set("server.server_certs", to: nil)
            $0.set("mag.mobile_sdk.trusted_cert_pinned_public_key_hashes", to: forms)
        }
        #expect(configuration.pins.map(\.sha256) == [hash, hash, hash])
    }

    @Test(
        "a configuration document has either name of the client registration endpoint (MAG quirk Q1)",
        arguments: [
            "device_client_register_endpoint_path", "device_register_client_endpoint_path",
        ])
    func registrationNames(name: String) throws {
        let configuration = try parsed { $0.set("mag.system_endpoints.\(name)", to: "/r") }
        #expect(configuration.endpoints[.registerClient] == "/r")
    }

    @Test(
        "a configuration document's prefix loses the slashes around it (MAG quirk Q15)",
        arguments: ["/test/", "test", "//test"])
    func prefix(text: String) throws {
        let identity = try parsed { $0.set("server.prefix", to: text) }.identity
        #expect(identity.prefix == "test")
        #expect(identity.baseURL == "https://gw.lab.test:8443/test")
        #expect(identity.scope == "gw.lab.test:8443/test")
        #expect(GatewayIdentity(scope: identity.scope) == identity)
    }

    @Test(
        "static credentials need a secret that is neither blank nor the client id (MAG checklist 8)",
        arguments: [
            ("", false), ("  ", false), ("5c0e", false), ("s3cret", true),
        ])
    func staticSecret(secret: String, isStatic: Bool) throws {
        let configuration = try parsed { $0.set("oauth.client.client_ids.0.client_secret", to: secret) }
        #expect((configuration.staticSecret != nil) == isStatic)
    }

    @Test(
        "a configuration document never leads to a key of fewer than 2048 bits (MAG checklist 12)",
        arguments: [0, 512, 1024, 2048])
    func leastBits(bits: Int) throws {
        #expect(try parsed { $0.set("mag.mobile_sdk.client_cert_rsa_keybits", to: bits) }.keyBits == 2048)
    }

    @Test("ignored keys of a configuration document are listed, with a warning of checks that stay on")
    func ignored() throws {
        let configuration = try parsed {
            $0.set("server.color", to: "red")
            $0.set("extra", to: ["deep": 1])
            $0.set("custom.lab_hello_endpoint_path", to: "/lab/hello")
            $0.set("mag.mobile_sdk.allow_ssl_pinning", to: false)
        }
        #expect(configuration.ignoredKeys == ["extra", "server.color"])
        #expect(configuration.customEndpoints == ["lab_hello_endpoint_path": "/lab/hello"])
        #expect(configuration.warnings.map(\.path) == ["mag.mobile_sdk.allow_ssl_pinning"])
    }

    @Test(
        "a configuration document that is not a JSON object, or too long, is refused so (100202)",
        arguments: ["", "{", "[]", "5"])
    func unreadable(text: String) {
        #expect { try GatewayConfiguration(parsing: Array(text.utf8)) } throws: {
            ($0 as? GatewayError)?.localCode == 100_202
        }
        let long = [UInt8](repeating: UInt8(ascii: " "), count: GatewayConfiguration.documentLimit + 1)
        #expect { try GatewayConfiguration(parsing: long) } throws: { ($0 as? GatewayError)?.localCode == 100_202 }
    }
}
