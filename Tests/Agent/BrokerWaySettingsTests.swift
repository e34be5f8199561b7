import AgentCore
import Cryptography
import Foundation
import Messaging
import Settings
import TestSupport
import Testing

@testable import Agent
@testable import AgentBrokers
@testable import AgentMessages

@Suite("Settings of the way to a broker")
struct BrokerWaySettingsTests {
    private func faults(_ toml: String) -> [String] {
        do {
            _ = try AgentConfiguration(toml: toml, path: "test.toml")
            return []
        } catch {
            guard case .faults(_, let faults) = error else { return ["\(error)"] }
            return faults.map(\.description)
        }
    }

    @Test("a proxy for MQTT is auto, none or a URL without a password, whose file needs a user")
    func proxies() {
        for proxy in ["auto", "none", "http://p:3128", "http://u@p:3128"] {
            #expect(faults("[broker]\nproxy = \"\(proxy)\"\n") == [])
        }
        for proxy in ["", "https://p", "http://u:secret9@p", "http://p/x"] {
            let found = faults("[broker]\nproxy = \"\(proxy)\"\n")
            #expect(found.count == 1 && !found[0].contains("secret9"), "\(found)")
        }
        #expect(faults("[broker]\nproxy = \"http://p\"\nproxy_password_file = \"/p\"\n").count == 1)
        #expect(faults("[broker]\nproxy = \"http://u@p\"\nproxy_password_file = \"/p\"\n") == [])
    }

    @Test("a path of WebSocket belongs to the broker's address, at the gateway's broker and at others")
    func paths() throws {
        let other = "[[brokers]]\nname = \"a\"\nhost = \"a\"\npublic_authorities = true\n"
        let path = "websocket_path = \"/mqtt\"\nproxy = \"none\"\n"
        let settings = try AgentConfiguration(toml: "[broker]\n\(path)\(other)\(path)", path: "test.toml")
        #expect(settings.broker.way.webSocketPath == "/mqtt")
        #expect(settings.brokers[0].address.description == "a:8883/mqtt")
        #expect(try settings.brokers[0].way.proxy(to: settings.brokers[0].address) == nil)
    }

    @Test("the password of a proxy for MQTT comes from its file, and is read for each connection")
    func password() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "latchkey-proxy-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        var way = BrokerWaySettings()
        (way.proxy, way.proxyPasswordFile) = ("http://u@p:3128", file.path)
        let broker = BrokerAddress(host: "b")
        #expect(throws: BrokerError.self) { try way.proxy(to: broker) }
        try Data("one\n".utf8).write(to: file)
        let proxy = try #require(try way.proxy(to: broker))
        #expect(proxy.user == "u" && proxy.password?.exposedText() == "one" && proxy.description == "p:3128")
        try Data("two".utf8).write(to: file)
        #expect(try way.proxy(to: broker)?.password?.exposedText() == "two")
    }
}
