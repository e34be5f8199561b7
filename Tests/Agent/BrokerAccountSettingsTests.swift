import Cryptography
import Foundation
import Messaging
import Settings
import TestSupport
import Testing

@testable import Agent
@testable import AgentBrokers
@testable import AgentCore
@testable import AgentMessages

@Suite("Brokers in the settings")
struct BrokerAccountSettingsTests {
    private static func read(_ text: String) throws -> [BrokerAccount] {
        try AgentConfiguration(toml: text, path: "test.toml").brokers
    }

    private static func credentials(of broker: BrokerAccount) throws -> BrokerCredentials {
        try broker.credentials(at: broker.address, identity: nil, password: nil) { Date() }
    }

    @Test("brokers of the settings are read with everything that a connection needs")
    func whole() throws {
        let broker = try #require(
            try Self.read(
                """
                [[brokers]]
                name = "plant"
                host = "broker.example"
                public_authorities = true
                client_id = "line-3"
                user_name = "board"
                password_file = "/etc/latchkey/plant"
                clean_session = false
                keep_alive_seconds = 30
                will_topic = "line/3"
                will_payload = "gone"
                will_qos = 2
                will_retain = true
                """
            ).first)
        #expect(broker.address == BrokerAddress(host: "broker.example", port: 8883))
        #expect(broker.tls?.security.usesPublicAnchors == true)
        #expect((broker.clientID, broker.userName) == ("line-3", "board"))
        #expect(broker.secret == .file("/etc/latchkey/plant"))
        #expect((broker.cleanSession, broker.keepAliveSeconds) == (false, 30))
        let topic = try Topic("line/3")
        #expect(broker.will == Will(topic: topic, payload: Array("gone".utf8), qos: 2, retain: true))
    }

    @Test("brokers of the settings default to MQTT's port without TLS, and to neither will nor login")
    func least() throws {
        let broker = try #require(try Self.read("[[brokers]]\nname = \"a\"\nhost = \"::1\"\ntls = false\n").first)
        #expect(broker.address == BrokerAddress(host: "::1", port: 1883))
        #expect(broker.tls == nil)
        #expect(broker.will == nil)
        #expect(broker.cleanSession)
        let (one, other) = (try Self.credentials(of: broker), try Self.credentials(of: broker))
        #expect(one.userName == nil && one.password == nil && one.tls == nil)
        #expect(one.clientID != other.clientID, "two boards do not displace each other")
    }

    @Test(
        "brokers of the settings are refused by the key that is wrong",
        arguments: [
            ("host = \"a\"\ntls = false", "name"), ("name = \"a\"\ntls = false", "host"),
            ("name = \"A b\"\nhost = \"a\"\ntls = false", "name"),
            ("name = \"a\"\nhost = \"mqtt://a\"\ntls = false", "host"),
            ("name = \"a\"\nhost = \"gw.example%eth0\"\ntls = false", "host"),
            ("name = \"a\"\nhost = \"fe80::1%\"\ntls = false", "host"),
            ("name = \"a\"\nhost = \"1:2\"\ntls = false", "host"),
            ("name = \"a\"\nhost = \"a\"", "certificates"),
            ("name = \"a\"\nhost = \"a\"\ncertificates = [\"/nope.pem\"]", "certificates"),
            ("name = \"a\"\nhost = \"a\"\ntls = false\npublic_authorities = true", "tls"),
            ("name = \"a\"\nhost = \"a\"\ntls = false\nclean_session = false", "client_id"),
            ("name = \"a\"\nhost = \"a\"\ntls = false\npassword_file = \"/x\"", "user_name"),
            ("name = \"a\"\nhost = \"a\"\ntls = false\nwill_payload = \"x\"", "will_topic"),
            ("name = \"a\"\nhost = \"a\"\ntls = false\nwill_topic = \"a/#\"", "will_topic"),
            ("name = \"a\"\nhost = \"a\"\ntls = false\npasword_file = \"/x\"", "pasword_file"),
        ])
    func faults(text: String, key: String) {
        #expect {
            try Self.read("[[brokers]]\n\(text)\n")
        } throws: { error in
            guard case .faults(_, let faults) = error as? ConfigurationError else { return false }
            return faults.contains { $0.keyPath == "brokers[0].\(key)" }
        }
    }

    @Test(
        "a broker's address may be IPv6, in brackets or with the zone of a link, which no certificate names",
        arguments: [
            ("2001:db8::17", "2001:db8::17", "2001:db8::17"), ("[2001:db8::17]", "2001:db8::17", "2001:db8::17"),
            ("fe80::1%eth0", "fe80::1%eth0", "fe80::1"),
        ])
    func address(text: String, host: String, certified: String) throws {
        let broker = try #require(
            try Self.read("[[brokers]]\nname = \"a\"\nhost = \"\(text)\"\npublic_authorities = true\n").first)
        #expect((broker.address.host, broker.address.certifiedHost) == (host, certified))
        #expect(throws: Never.self) { try Self.credentials(of: broker) }
    }

    @Test("the protocol that TLS names has at most 255 bytes, at the gateway's broker and at others")
    func applicationProtocol() {
        func faults(_ length: Int) -> [String] {
            let alpn = "alpn = \"\(String(repeating: "x", count: length))\"\n"
            let other = "[[brokers]]\nname = \"a\"\nhost = \"a\"\npublic_authorities = true\n"
            do {
                _ = try AgentConfiguration(toml: "[broker]\n\(alpn)\(other)\(alpn)", path: "test.toml")
                return []
            } catch {
                guard case .faults(_, let faults) = error else { return ["\(error)"] }
                return faults.map(\.keyPath).sorted()
            }
        }
        #expect(faults(255) == [])
        #expect(faults(256) == ["broker.alpn", "brokers[0].alpn"])
    }

    @Test("brokers of the settings have names of their own")
    func twice() {
        let one = "[[brokers]]\nname = \"a\"\nhost = \"a\"\ntls = false\n"
        #expect(throws: ConfigurationError.self) { try Self.read(one + one) }
    }

    @Test("a broker's certificates that cannot be read are one fault, with the file and its line")
    func certificates() throws {
        try withFolder { folder in
            let pem = try TestAuthority().certificate.pem
            let last = pem.split(separator: "\n").count
            let files = [
                ("mark", "\u{FEFF}" + pem, nil),
                ("glued", pem.trimmingCharacters(in: .newlines) + pem, "line \(last) does not have exactly one marker"),
                ("empty", "", "there is no line -----BEGIN CERTIFICATE-----"),
            ]
            for (name, text, reason) in files {
                let path = "\(folder)/\(name).pem"
                try Data(text.utf8).write(to: URL(filePath: path))
                for table in ["[[brokers]]\nname = \"a\"\n", "[[hosts]]\n"] {
                    let settings = table + "host = \"a\"\ncertificates = [\"\(path)\"]\n"
                    do throws(ConfigurationError) {
                        _ = try AgentConfiguration(toml: settings, path: "test.toml")
                        #expect(reason == nil, "\(name)")
                    } catch {
                        guard case .faults(_, let faults) = error else { throw error }
                        let fault = try #require(faults.first?.fault)
                        let isNamed = fault.hasPrefix("cannot use \(path): \(reason ?? "?")")
                        #expect(isNamed && faults.count == 1, "\(name): \(faults)")
                    }
                }
            }
        }
    }

    @Test(
        "a broker's password is read from a file as editors write it, without mark and line end",
        arguments: [
            Data("s3cret ".utf8), Data("s3cret \n".utf8), Data("\u{FEFF}s3cret \r\n".utf8),
            Data([0xFF, 0xFE]) + Data("s3cret \r\n".utf8.flatMap { [$0, 0] }),
        ])
    func password(content: Data) throws {
        try withFolder { folder in
            let path = "\(folder)/password"
            try content.write(to: URL(filePath: path))
            let broker = try #require(
                try Self.read(
                    """
                    [[brokers]]
                    name = "a"
                    host = "a"
                    tls = false
                    user_name = "board"
                    password_file = "\(path)"
                    """
                ).first)
            #expect(broker.secret == .file(path))
            #expect(try SecretFile.password(in: path).exposedText() == "s3cret ")
        }
    }
}
