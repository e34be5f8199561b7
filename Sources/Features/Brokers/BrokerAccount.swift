import AgentCore
import AgentMessages
import Cryptography
import Groundwork
import Messaging
import Vault

/// An account at a broker: where that is, how it proves itself, and how the board logs in.
package struct BrokerAccount: Sendable, Equatable {
    /// Where the password for the login comes from.
    package enum Secret: Sendable, Equatable {
        case none
        /// The file with this absolute path, read for each connection.
        case file(String)
        /// Sealed with the account.
        case sealed(SecretBytes)
        /// The access token of another account.
        case token(of: AccountName, scope: String?)
    }

    /// How the broker has to prove itself.
    package struct TLS: Sendable, Equatable {
        package var security = ServerSecurity()
        /// The protocol that is named to the server (ALPN, RFC 7301); empty: none.
        package var alpn = ""
    }

    /// A client certificate, with its issuers after it, and the key, which the vault has.
    package struct Identity: Sendable, Equatable {
        package var chain: [Certificate]
        package var key: KeyReference
    }

    /// Where the topics of the board are, unless an account says otherwise.
    package static let presetTopics = "latchkey/{device}/{name}"

    package var name: String
    package var address: BrokerAddress
    /// Tried while the first does not answer.
    package var others: [BrokerAddress] = []
    /// `nil` connects without TLS.
    package var tls: TLS?
    /// Empty: another one for each connection.
    package var clientID: String
    /// Empty: none.
    package var userName = ""
    package var secret = Secret.none
    package var identity: Identity?
    /// Whether the broker forgets the session between connections that programs use; the board's own is kept.
    package var cleanSession = true
    package var keepAliveSeconds = 60
    package var will: Will?
    /// How it is reached, where the settings have it; others are reached as the board's broker is.
    package var way = BrokerWaySettings()
    /// The board's topics, where its messages go to this broker; see ``TopicNamespace/init(template:deviceID:)``.
    package var topics = Self.presetTopics
    /// Whether it was made for the board's messages: they go to it where the settings name no account.
    package var carriesMessages = false
    /// Whether the settings have it, and not the vault.
    package var isPreset = false

    package init(name: String, address: BrokerAddress, tls: TLS?, clientID: String) {
        (self.name, self.address, self.tls, self.clientID) = (name, address, tls, clientID)
    }

    package var addresses: [BrokerAddress] { [address] + others }

    /// What the board is called in its topics: the client identifier, as one level of a topic.
    package var device: String { String(clientID.map { "/+#".contains($0) ? "-" : $0 }) }

    /// A client identifier that no other board has, though it may have the same host name.
    ///
    /// - Throws: `CryptographyError` when the system has no random bytes.
    package static func freshClientID(of deviceName: String) throws -> String {
        let plain = deviceName.lowercased().prefix(40).map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }
        return "\(String(plain))-\(Hex.encode(try Random.bytes(3)))"
    }
}
