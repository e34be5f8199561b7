import AgentCore
import Cryptography
import Groundwork
import HTTPClient
import Messaging
import Settings

/// The way to a broker: over WebSocket, through a proxy, or neither.
package struct BrokerWaySettings: Sendable, Equatable {
    package init() {}

    /// `auto`: that of the environment, as for HTTPS; `none`; or the URL of a proxy, without a password.
    package var proxy = Self.automatic
    /// Absolute path of the file with the password of the proxy's user; empty: none.
    package var proxyPasswordFile = ""
    /// Where MQTT is spoken over WebSocket; empty: MQTT over TCP.
    package var webSocketPath = ""
    /// Brokers to try while the first does not answer, each `host` or `host:port`.
    package var fallbacks: [String] = []

    /// The most of ``fallbacks``.
    package static let limit = 7

    package static let automatic = "auto"
    package static let none = "none"

    package mutating func read(_ table: inout SettingsTable) {
        table.string("proxy", &proxy, .brokerProxy)
        table.string("proxy_password_file", &proxyPasswordFile, .absolutePathOrEmpty)
        table.string("websocket_path", &webSocketPath, .webSocketPathOrEmpty)
        table.strings("fallbacks", &fallbacks)
        if fallbacks.count > Self.limit || fallbacks.contains(where: { Self.address($0, standardPort: 1) == nil }) {
            table.note(
                "fallbacks", "is not a list of at most \(Self.limit) brokers",
                fix: "write hosts, with a port where it is another, such as [\"b2.example\", \"b3.example:8884\"]")
        }
        let isURL = ![Self.automatic, Self.none].contains(proxy)
        if isURL, !proxyPasswordFile.isEmpty, (try? BrokerProxy(url: proxy))?.user == nil {
            table.note(
                "proxy", "names no user whose password the file has",
                fix: "write it as http://USER@HOST:PORT, or leave out proxy_password_file")
        }
    }

    /// The brokers that are tried, all of them the same way.
    package func all(first: BrokerAddress, standardPort: Int) -> [BrokerAddress] {
        let others = fallbacks.compactMap { Self.address($0, standardPort: standardPort) }
        return ([first] + others).map { address in
            var address = address
            if !webSocketPath.isEmpty { address.webSocketPath = webSocketPath }
            return address
        }
    }

    private static func address(_ text: String, standardPort: Int) -> BrokerAddress? {
        let (host, port) = HostName.split(text)
        guard HostName.isValid(host), let number = port.map({ UInt16($0) }) ?? UInt16(standardPort), number > 0 else {
            return nil
        }
        return BrokerAddress(host: host, port: Int(number))
    }

    /// The proxy on the way to a broker; the password's file is read each time, so that it may be replaced.
    ///
    /// - Throws: ``MessagingError/proxyUnusable(reason:)``, or why there is no password.
    package func proxy(to broker: BrokerAddress) throws -> BrokerProxy? {
        guard proxy != Self.none else { return nil }
        let (url, place): (String, String)
        if proxy == Self.automatic {
            guard let found = ForwardProxy.forHTTPS(to: broker.certifiedHost),
                let value = ForwardProxy.variable(found.variable)
            else { return nil }
            (url, place) = (value, found.variable)
        } else {
            (url, place) = (proxy, "broker.proxy")
        }
        let password = proxyPasswordFile.isEmpty ? nil : try SecretFile.password(in: proxyPasswordFile)
        do throws(BrokerProxy.Fault) {
            return try BrokerProxy(url: url, password: password)
        } catch {
            throw MessagingError.proxyUnusable(reason: "\(place): \(error.reason)")
        }
    }
}

extension TextRule {
    fileprivate static let brokerProxy = TextRule { text in
        guard ![BrokerWaySettings.automatic, BrokerWaySettings.none].contains(text) else { return nil }
        do throws(BrokerProxy.Fault) {
            guard try BrokerProxy(url: text).password == nil else {
                return ("has a password in it", "put it into a file, and name that in proxy_password_file")
            }
            return nil
        } catch {
            return (
                "is not the URL of a proxy: \(error.reason)",
                "write \"auto\", \"none\" or \"http://proxy.example:3128\""
            )
        }
    }
    fileprivate static let webSocketPathOrEmpty = TextRule {
        $0.isEmpty || BrokerAddress.isWebSocketPath($0)
            ? nil : ("is not a path", "start it with /, such as \"/mqtt\", and percent-encode what is not ASCII")
    }
}
