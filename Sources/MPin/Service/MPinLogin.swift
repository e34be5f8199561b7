public import Cryptography
public import Groundwork

/// What a login by M-Pin is for.
public enum MPinLoginWay: String, Sendable, CaseIterable {
    case login
    case oneTimePassword = "otp"
    /// In a browser that shows a number or a code.
    case accessNumber = "access-number"
    /// For an authorization code.
    case multiFactor = "mfa"
}

/// What a login is to bring.
public struct MPinLoginRequest: Sendable {
    public let way: MPinLoginWay
    public let accessNumber: String

    public init(way: MPinLoginWay = .login, accessNumber: String = "") {
        self.way = way
        self.accessNumber = accessNumber
    }

    /// The code of a browser that a person scanned; a number that was typed is shorter.
    var accessCode: String? {
        way == .accessNumber && !isTyped ? accessNumber : nil
    }

    /// Whether it is for people to type, mistakes included. Numbers have 6 or 7 digits, codes 32 (MPIN 5.11, 5.13).
    var isTyped: Bool { accessNumber.utf8.count < 16 }
}

/// What a login has brought.
public struct MPinLoginResult: Sendable {
    public let user: String
    public let way: MPinLoginWay
    /// What the back end's application answered.
    public internal(set) var answer: JSON?
    public internal(set) var password: MPinOneTimePassword?
    /// An authorization code.
    public internal(set) var code: SecretBytes?
    /// Whether the session in a browser can be ended from here.
    public internal(set) var canLogOut = false

    init(user: String, way: MPinLoginWay) {
        self.user = user
        self.way = way
    }
}
