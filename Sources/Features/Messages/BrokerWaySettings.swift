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

    package static let automatic = "auto"
    package static let none = "none"

    package mutating func read(_ table: inout SettingsTable) {
        table.string("proxy", &proxy, .brokerProxy)
        table.string("proxy_password_file", &proxyPasswordFile, .absolutePathOrEmpty)
        table.string("websocket_path", &webSocketPath, .webSocketPathOrEmpty)
        let isURL = ![Self.automatic, Self.none].contains(proxy)
        if isURL, !proxyPasswordFile.isEmpty, (try? BrokerProxy(url: proxy))?.user == nil {
            table.note(
                "proxy", "names no user whose password the file has",
                fix: "write it as http://USER@HOST:PORT, or leave out proxy_password_file")
        }
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
