import AgentCore
import FoundationEssentials
import Gateway
import Groundwork
import Vault

// How the states of sessions at gateways appear in the status.

extension GatewayIdentity: Answered {
    package static let answer: Answer<GatewayIdentity> = [
        "scope": .of("scope of the tokens") { $0.scope }, "host": .of("host name or address") { $0.host },
        "port": .schema(.integer("TCP port", in: 1...65_535)) { $0.port },
        "prefix": .of("path prefix of the gateway's endpoints; empty if there is none") { $0.prefix },
        "url": .of("the URL that host, port and prefix make") { $0.baseURL },
    ]
}

extension GatewayStatus {
    /// The status members about the gateway.
    package static let answer: Answer<(status: GatewayStatus, now: Date)> = [
        "gateway": .of("The active gateway") { $0.status.gateway },
        "registration": .schema(.registration) { registrationAnswer.json($0.status) },
        "certificate": .schema(.certificate) { $0.status.certificate.map { certificateAnswer.json($0) } },
        "token": .schema(tokenAnswer.schema("The access token of the device")) { report in
            report.status.token.map { tokenAnswer.json(($0, report.now)) }
        },
        "lastContact": .of("when the gateway last answered") { $0.status.lastContact },
        "lastError": .schema(.lastError) { $0.status.lastFailure?.json(at: $0.now) },
    ]

    package func report(at now: Date) -> [String: JSON] { Self.answer.members(of: (self, now)) }

    package static let registrationAnswer: Answer<GatewayStatus> = [
        "state": .schema(
            .string(
                "pending: an administrator must activate the board; unknown: the vault cannot be opened, or its data of "
                    + "the gateway cannot be used", choices: ["unregistered", "pending", "registered", "unknown"])
        ) { $0.registration.rawValue },
        "deviceID": .of("identifier that the board chose; its topics contain it") { $0.deviceID },
        "magIdentifier": .of("the gateway's name for the registration") { $0.magIdentifier },
        "key": .schema(
            .string("where the key of its certificate is", choices: KeyReference.Keeper.allCases.map(\.rawValue))
        ) { $0.key?.rawValue },
    ]

    package static let certificateAnswer: Answer<Certificate?> = [
        "notBefore": .of("start of its validity") { $0?.notBefore },
        "notAfter": .of("end of its validity") { $0?.notAfter },
        "daysLeft": .of("whole days until it expires; negative if it has expired") { $0?.daysLeft },
    ]

    private static let tokenAnswer: Answer<(token: Token, now: Date)> = [
        "age": .of("in seconds") { Int($0.now.timeIntervalSince($0.token.receivedAt)) },
        "lifeLeft": .of("in seconds; negative if it has expired") { $0.token.lifeLeft(at: $0.now) },
        "scope": .of("scopes separated by blanks") { $0.token.scope },
    ]
}

extension GatewayStatus.Token {
    /// In seconds; negative when it has ended.
    func lifeLeft(at now: Date) -> Int { Int(expiresAt.timeIntervalSince(now)) }
}

extension GatewayStatus.Failure {
    /// `nil` once it is too old to be shown.
    fileprivate func json(at now: Date) -> JSON? {
        guard now.timeIntervalSince(at) < Troubles.shownSeconds else { return nil }
        return .object(error.explanation.merging(["time": .string(at.formatted(.iso8601))]) { own, _ in own })
    }
}
