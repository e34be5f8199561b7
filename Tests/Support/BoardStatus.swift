/// What `latchkey status --json` prints, as far as tests look at it.
package struct BoardStatus: Decodable, Sendable {
    /// An error as the agent explains it.
    package struct Trouble: Decodable, Sendable {
        /// Where it was reported as an event: its name.
        package let event: String?
        package let code: String?
        package let message: String
        package let remedy: String?
    }

    package struct Gateway: Decodable, Sendable, Equatable {
        package let host: String?
        package let url: String
        package let scope: String?
    }

    package struct Registration: Decodable, Sendable {
        package let state: String
        package let deviceID: String?
        package let magIdentifier: String?
        package let key: String?
    }

    package struct Certificate: Decodable, Sendable {
        /// Days until it ends; negative when it has ended.
        package let daysLeft: Int
        package let notAfter: String
    }

    package struct Token: Decodable, Sendable {
        /// Seconds.
        package let age: Int
    }

    package struct User: Decodable, Sendable {
        package let loggedIn: Bool
        package let userName: String?
    }

    package struct Broker: Decodable, Sendable {
        package let state: String
        package let received: Int
        package let acknowledged: Int
        package let sent: Int
        package let lastError: Trouble?
    }

    /// The outbox, or why it cannot be used.
    package struct Outbox: Decodable, Sendable {
        package let depth: Int?
        package let accepted: Int?
        package let delivered: Int?
        package let dropped: Int?
        package let unwritten: Int?
        package let flushSeconds: Int?
        package let deadLetters: Int?
        /// The name of the file that was damaged.
        package let setAside: String?
        package let rescued: Int?
        package let error: Trouble?
    }

    /// The network that the board is in.
    package struct Network: Decodable, Sendable, Equatable {
        package let state: String
        package let interface: String?
        package let kind: String?
        package let gateway: String
    }

    /// Missing where the store is open.
    package struct Vault: Decodable, Sendable {
        package let error: Trouble
    }

    /// The board at one gateway.
    package struct Account: Decodable, Sendable {
        package let name: String
        package let isDefault: Bool
        package let usesBroker: Bool
        package let gateway: Gateway
        package let registration: Registration
        package let user: User?
    }

    package let registration: Registration
    package let gateway: Gateway?
    package let certificate: Certificate?
    package let token: Token?
    package let user: User?
    package let network: Network?
    package let broker: Broker?
    package let userBroker: Broker?
    package let outbox: Outbox?
    package let vault: Vault?
    package let lastError: Trouble?
    package let otherGateways: [Gateway]?
    /// Those at gateways.
    package let accounts: [Account]?
    package let warnings: [String]?
    /// The names of files that were damaged.
    package let setAside: [String]?

    package var isConnected: Bool { broker?.state == "connected" }
}

/// An account in a list of all kinds: those of other kinds lack what every account at a gateway has.
private struct ListedAccount: Decodable {
    /// `nil` for one of another kind.
    let account: BoardStatus.Account?

    init(from decoder: any Decoder) throws {
        let kind = try decoder.container(keyedBy: Member.self).decode(String.self, forKey: .kind)
        account = kind == "gateway" ? try BoardStatus.Account(from: decoder) : nil
    }

    enum Member: String, CodingKey { case kind }
}

extension KeyedDecodingContainer {
    /// Decodes a list of accounts of all kinds, and keeps those at gateways.
    func decodeIfPresent(_ type: [BoardStatus.Account].Type, forKey key: Key) throws -> [BoardStatus.Account]? {
        try decodeIfPresent([ListedAccount].self, forKey: key)?.compactMap(\.account)
    }
}
