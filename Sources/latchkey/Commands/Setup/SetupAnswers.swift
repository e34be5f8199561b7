import Groundwork
import Settings

/// What a person answers, or a file for many boards.
struct SetupAnswers {
    enum Way {
        /// By an enrollment URL.
        case gateway(String)
        case broker(BrokerAnswers)
        /// By its issuer.
        case server(String)
    }

    let way: Way

    private static let limit = 1 << 16

    /// - Throws: `InputError` that names every fault of the file.
    init(file path: String) throws {
        let text = try Input.text(Input.file(path, limit: Self.limit), of: path)
        do {
            var table = SettingsTable(try SettingsDocument.parse(text))
            let way = try Self.way(&table)
            table.refuseUnknownKeys()
            guard table.faults.isEmpty, let way else {
                throw InputError.unreadable(name: path, reason: SettingsFault.list(table.faults, main: nil))
            }
            self.way = way
        } catch let fault as SettingsFault {
            throw InputError.unreadable(name: path, reason: fault.description)
        }
    }

    private static func way(_ table: inout SettingsTable) throws -> Way? {
        let (enrollment, broker, issuer) = (table.text("enrollment"), table.text("broker"), table.text("issuer"))
        guard [enrollment, broker, issuer].count(where: { $0 != nil }) == 1 else {
            table.note("broker", "there is not exactly one of broker, enrollment and issuer", fix: "write one of them")
            return nil
        }
        if let enrollment { return .gateway(enrollment) }
        if let issuer { return .server(issuer) }
        var answers = BrokerAnswers()
        answers.address = broker ?? ""
        answers.user = table.text("user")
        answers.password = try table.text("password_file").map {
            try Input.firstLine(of: Input.file($0, limit: limit), from: $0)
        }
        answers.authorities = try table.text("authorities").map { try BrokerAnswers.certificates(in: $0) }
        answers.clientID = table.text("client_id")
        answers.topics = table.text("topics")
        if answers.password != nil, answers.user == nil {
            table.note("user", "is missing", fix: "a password needs a user name (MQTT 3.1.1)")
        }
        return .broker(answers)
    }
}

/// What is known of a broker.
struct BrokerAnswers {
    /// A URL, or a host with or without a port.
    var address = ""
    var user: String?
    var password: String?
    /// PEM.
    var authorities: String?
    var clientID: String?
    var topics: String?

    /// Whether the address says if TLS is used.
    var hasScheme: Bool { address.contains("://") }

    /// - Parameter isPlain: without TLS, where the address does not say.
    func request(isPlain: Bool) -> JSON {
        let scheme = isPlain ? "mqtt://" : "mqtts://"
        let members: [String: JSON?] = [
            "name": .string(BrokerSetup.account), "url": .string(hasScheme ? address : scheme + address),
            "userName": user.map(JSON.string), "password": password.map(JSON.string),
            "authorities": authorities.map(JSON.string), "clientID": clientID.map(JSON.string),
            "topics": topics.map(JSON.string),
        ]
        return .object(members.compactMapValues { $0 })
    }

    static func certificates(in path: String) throws -> String {
        ReceivedText.decodeWherePossible(try Input.file(path, limit: 1 << 18))
    }
}
