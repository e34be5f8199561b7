import Groundwork

/// A number of the gateway's `x-ca-err` header, or its last three digits, without its answer (MAG 6.4).
public struct RefusalNumber: Sendable, Equatable {
    public let number: Int

    /// - Parameter number: four to nine digits, or at most three: those identify the problem but not the interface.
    public init(_ number: Int) { self.number = number }

    /// - Returns: `nil` unless the text is one to nine digits.
    public init?(_ text: String) {
        guard let number = Refusal.number(text) else { return nil }
        self.init(number)
    }

    /// The known values of the last three digits.
    public static let suffixes = understood + others.keys.sorted()

    /// Numbers for which the agent has its own code.
    private static let understood = [
        000, 101, 102, 103, 104, 105, 107, 108, 109, 110, 113, 115, 117, 119, 123, 124, 132, 135, 201, 202, 203, 206,
        302, 990, 991, 992, 993,
    ]

    /// Numbers for which the agent has no code of its own.
    private static let others = [
        111: "too many requests came in a short time",
        112: "the proof of the authorization code (PKCE) is missing or wrong",
        114: "the redirect_uri is not the client's", 116: "the gateway does not know this response_type",
        118: "the gateway does not know this type of token",
        130: "there is no redirect_uri, or the client is of the wrong type",
        133: "the JSON that was sent is not valid", 134: "the origin of the request is not allowed (CORS)",
        140: "a one-time password is required", 142: "the one-time password is wrong",
        143: "the one-time password has expired",
        144: "too many one-time passwords were requested or tried",
        145: "the user is barred from one-time passwords for a while",
        155: "there is too much device metadata", 156: "there is no such device metadata",
        306: "the JWT of the client is not valid", 307: "the JWT of the client is not valid",
        308: "the JWT of the client was used before",
        400: "what was sent for a one-time password is not valid",
        500: "the gateway could not send a one-time password",
    ]

    /// The interface of the gateway that the number comes from.
    public var interface: String? { place?.interface }

    private var place: (interface: String, operation: GatewayOperation)? {
        switch number / 1000 {
        case 1000, 1007: ("registration of a device", .registerDevice)
        case 1001: ("removal of a device", .removeDevice)
        case 1002: ("initialization of a client", .initializeClient)
        case 1003: ("device and session", .call)
        case 1016: ("device metadata", .call)
        case 3000: ("authorization", .beginAuthorization)
        case 3001: ("authorization, login", .beginAuthorization)
        case 3002: ("authorization, consent", .beginAuthorization)
        case 3003: ("token", .obtainToken)
        case 3004: ("revocation of tokens", .revokeToken)
        case 3005: ("export of a client", .call)
        case 3006: ("log-out", .logOut)
        case 3007: ("session status, and any protected API", .call)
        case 3008: ("discovery", .discover)
        case 3009: ("registration of a client", .call)
        case 3010: ("signing keys", .fetchKeys)
        case 8000: ("one-time passwords", .call)
        default: nil
        }
    }

    /// A refusal with this number for each possible meaning: three digits alone can have several.
    var refusals: [Refusal] {
        guard Self.suffixes.contains(number % 1000) else { return [] }
        let plain = refusal(of: place?.operation ?? .call)
        guard number < 1000 else { return [plain] }
        // What 101 and 132 mean depends on the interface.
        let certificate = Refusal(operation: .registerDevice, status: 400, code: 1_000_000 + number)
        let others = [certificate, refusal(of: .fetchConfiguration)].filter { $0.meaning != plain.meaning }
        return [plain] + others
    }

    private func refusal(of operation: GatewayOperation) -> Refusal {
        let suffix = number % 1000
        return Refusal(operation: operation, status: suffix == 0 ? 500 : 400, code: number, text: Self.others[suffix])
    }

    /// An explanation for each possible meaning of the number; empty if it is unknown.
    public var explanations: [Explanation] {
        refusals.map { refusal in
            let said = refusal.explanation
            return Explanation(
                said.code, said.kind, said.message, remedy: said.remedy, meaning: refusal.text ?? said.meaning,
                gateway: said.gateway)
        }
    }
}
