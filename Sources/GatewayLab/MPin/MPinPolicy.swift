import Groundwork

/// How the lab's M-Pin back end behaves.
public struct MPinPolicy: Sendable, Equatable {
    public enum Activation: String, Sendable, CaseIterable {
        /// A new user has to enter the code of a mail, which only the lab's page and its API show.
        case code
        /// A new user is active at once.
        case forced
    }

    /// What a log-in with an access number gets for logging out.
    public enum Logout: String, Sendable, CaseIterable {
        case object
        /// As text, which clients cannot send back.
        case text
        /// With an address that is not below the back end's.
        case absolute
        case none
    }

    /// How the client settings write their addresses.
    public enum SettingsForm: String, Sendable, CaseIterable {
        case relative, absolute
        /// With `wss:`, which clients replace.
        case websocket
    }

    public var activation = Activation.code
    public var usePermits = true
    /// Whether D-TA 2's time permits are also found in a storage.
    public var permitStorage = true
    /// This many failures in a row block a user.
    public var limit = 3
    /// What a revoked user is answered who asks for a time permit: 401, 403 or 410.
    public var revocationStatus = 410
    /// User ids that must not register.
    public var refusedUsers: [String] = []
    /// User ids that must not log in, though their PIN is right.
    public var refusedLogins: [String] = []
    /// Header fields that each of a client's requests must have.
    public var headers: [String: String] = [:]
    /// The value of `X-MIRACL-Client-ID`; each request after the client settings must have it.
    public var clientID: String?
    /// Whether a log-in with an access number is answered only after the browser has come for it.
    public var waitsForBrowser = false
    /// How long it waits, in seconds.
    public var browserPatience = 10
    public var logout = Logout.object
    public var settingsForm = SettingsForm.relative
    /// Members that the client settings are without.
    public var leaveOut: [String] = []
    public var checkDigits = true
    /// 7 with a check digit, 6 without.
    public var numberDigits = 7
    /// `cSum`: 1, or 0 for the old way of computing check digits.
    public var checkMethod = 1
    public var codeStatus = true
    /// Whether session details are spelled with capitals, as old servers do.
    public var upperCaseDetails = false
    public var setDeviceName = false
    /// The type in the service details; clients know `online`.
    public var serviceType = "online"

    /// Lifetimes, in seconds (MPIN 4.4).
    public var registrationLife = 3600
    public var passLife = 15
    public var verdictLife = 60
    public var requestLife = 60
    public var numberLife = 300
    public var passwordLife = 60

    public init() {}

    /// The seconds for which an access number is taken after its end.
    static let grace = 5
}

extension MPinPolicy {
    private static var flags: [(String, WritableKeyPath<MPinPolicy, Bool>)] {
        [
            ("use_permits", \.usePermits), ("permit_storage", \.permitStorage),
            ("waits_for_browser", \.waitsForBrowser),
            ("check_digits", \.checkDigits), ("code_status", \.codeStatus), ("upper_case_details", \.upperCaseDetails),
            ("set_device_name", \.setDeviceName),
        ]
    }

    private static var numbers: [(String, WritableKeyPath<MPinPolicy, Int>, ClosedRange<Int64>)] {
        [
            ("limit", \.limit, 1...100), ("revocation_status", \.revocationStatus, 400...499),
            ("browser_patience", \.browserPatience, 1...60), ("number_digits", \.numberDigits, 6...7),
            ("check_method", \.checkMethod, 0...1), ("registration_life", \.registrationLife, 1...86_400),
            ("pass_life", \.passLife, 1...86_400), ("verdict_life", \.verdictLife, 1...86_400),
            ("request_life", \.requestLife, 1...86_400), ("number_life", \.numberLife, 1...86_400),
            ("password_life", \.passwordLife, 1...86_400),
        ]
    }

    private static var lists: [(String, WritableKeyPath<MPinPolicy, [String]>)] {
        [
            ("refused_users", \.refusedUsers), ("refused_logins", \.refusedLogins), ("leave_out", \.leaveOut),
        ]
    }

    /// Changes what `input` names.
    /// - Throws: `AdminAPI.BadInput`
    mutating func change(by input: JSON) throws {
        guard let members = input.object else { throw AdminAPI.BadInput(text: "an object of settings is needed") }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) { try change(name, to: value) }
    }

    private mutating func change(_ name: String, to value: JSON) throws {
        if let (_, flag) = Self.flags.first(where: { $0.0 == name }) {
            self[keyPath: flag] = try Self.required(value.bool, name, "true or false")
        } else if let (_, number, range) = Self.numbers.first(where: { $0.0 == name }) {
            let bounds = "a number from \(range.lowerBound) to \(range.upperBound)"
            let given = try Self.required(value.integer, name, bounds)
            self[keyPath: number] = Int(try Self.required(range.contains(given) ? given : nil, name, bounds))
        } else if let (_, list) = Self.lists.first(where: { $0.0 == name }) {
            let texts = value.array?.compactMap(\.string)
            let isWhole = texts?.count == value.array?.count
            self[keyPath: list] = try Self.required(isWhole ? texts : nil, name, "a list of texts")
        } else {
            try changeOther(name, to: value)
        }
    }

    private mutating func changeOther(_ name: String, to value: JSON) throws {
        func choice<Choice: RawRepresentable & CaseIterable>(_: Choice.Type) throws -> Choice
        where Choice.RawValue == String {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            return try Self.required(value.string.flatMap(Choice.init(rawValue:)), name, "one of \(names)")
        }
        switch name {
        case "activation": activation = try choice(Activation.self)
        case "logout": logout = try choice(Logout.self)
        case "settings_form": settingsForm = try choice(SettingsForm.self)
        case "headers":
            let texts = value.object?.compactMapValues(\.string)
            let isWhole = texts?.count == value.object?.count
            headers = try Self.required(isWhole ? texts : nil, name, "an object of texts")
        case "client_id": clientID = value == .null ? nil : try Self.required(value.string, name, "a text or null")
        case "service_type": serviceType = try Self.required(value.string, name, "a text")
        default: throw AdminAPI.BadInput(text: "there is no setting \(name) of M-Pin; known are \(Self.names)")
        }
    }

    private static func required<Value>(_ value: Value?, _ name: String, _ kind: String) throws -> Value {
        guard let value else { throw AdminAPI.BadInput(text: "\(name) must be \(kind)") }
        return value
    }

    private static var names: String { (MPinPolicy().json.object ?? [:]).keys.sorted().joined(separator: ", ") }

    var json: JSON {
        var members: [String: JSON] = [
            "activation": .string(activation.rawValue), "logout": .string(logout.rawValue),
            "settings_form": .string(settingsForm.rawValue), "headers": .object(headers.mapValues(JSON.string)),
            "client_id": clientID.map(JSON.string) ?? .null, "service_type": .string(serviceType),
        ]
        for (name, flag) in Self.flags { members[name] = .bool(self[keyPath: flag]) }
        for (name, number, _) in Self.numbers { members[name] = .integer(Int64(self[keyPath: number])) }
        for (name, list) in Self.lists { members[name] = .array(self[keyPath: list].map(JSON.string)) }
        return .object(members)
    }
}
