import Groundwork

/// Errors of the passcode.
public enum PasscodeError: Explained, Equatable {
    /// There is a passcode already.
    case exists
    /// There is none.
    case noPasscode
    /// What was given cannot be a passcode, or breaks a rule of the policy.
    case refused(PasscodeFault)
    /// The new passcode is the old one.
    case same
    /// It is wrong; `triesLeft` is `nil` without a limit.
    case wrong(triesLeft: Int?)
    /// It was the last wrong passcode that the policy allows, and everything behind the passcode was erased.
    case wiped
    /// The wait after a wrong passcode is not over.
    case tooSoon(seconds: Int)
    /// Another attempt or change is under way; this one was not counted.
    case busy
    /// Changing it needs the old passcode, or that it is open.
    case locked
    /// The passcode has to be changed before it opens anything.
    case expired
    /// The passcode needs the secret of a chip, and none is there.
    case hardwareMissing
    /// The keys behind the passcode, or what is stored of it, were changed or removed.
    case tampered

    /// The number in the domain `secure-store` (SMP A4).
    ///
    /// - Parameter isExtended: whether ``wiped`` has the number of its own that later clients know.
    public func number(isExtended: Bool = false) -> Int {
        switch self {
        case .hardwareMissing, .tampered: 0
        case .exists: 1
        case .noPasscode: 3
        case .same: PasscodeFault.argument.rawValue
        case .refused(let fault): fault.rawValue
        case .wrong, .tooSoon, .busy: 5
        case .wiped: isExtended ? 16 : 5
        case .locked: 6
        case .expired: 8
        }
    }
}

extension PasscodeError {
    public var explanation: Explanation {
        var numbers = [ClientNumber(.secureStore, number())]
        if self == .wiped { numbers.append(ClientNumber(.secureStore, number(isExtended: true))) }
        if self == .same { numbers.append(ClientNumber(.logonManager, 10)) }
        return described.numbered(numbers)
    }

    private var described: Explanation {
        switch self {
        case .exists:
            Explanation("vault.passcode-exists", .conflict, "the vault has a passcode", remedy: "change it instead")
        case .noPasscode:
            Explanation("vault.no-compartment", .conflict, "the vault has no passcode", remedy: "set one first")
        case .refused(let fault): fault.explanation
        case .same:
            Explanation("vault.passcode-argument", .invalidInput, "the new passcode is the old one")
        case .wrong(let triesLeft):
            Explanation(
                "vault.passcode-wrong", .denied,
                "the passcode is wrong"
                    + (triesLeft.map { "; \(Self.wrongOnes($0)) everything behind it" } ?? ""))
        case .wiped:
            Explanation(
                "vault.wiped", .denied,
                "the passcode was wrong for the last time, and everything behind it was erased",
                remedy: "set a new passcode, and log in again")
        case .tooSoon(let seconds):
            Explanation(
                "vault.passcode-too-soon", .tooMany, "the passcode can be tried again in \(seconds) seconds",
                meaning: "each wrong passcode doubles the wait before the next one")
        case .busy:
            Explanation("vault.passcode-busy", .busy, "the passcode is being tried or changed")
        case .locked:
            Explanation(
                "vault.passcode-locked", .conflict, "the passcode is locked", remedy: "give the old passcode, too")
        case .expired:
            Explanation("vault.passcode-expired", .unconfigured, "the passcode has expired", remedy: "change it")
        case .hardwareMissing:
            Explanation(
                "vault.passcode-hardware-missing", .configuration,
                "the passcode needs a secret of this board's chip, which the agent does not use",
                remedy: "correct the settings of the chip")
        case .tampered:
            Explanation(
                "vault.tampered", .damaged, "what the vault has of its passcode is damaged or was changed",
                remedy: "restore a copy of the vault, or erase what is behind the passcode")
        }
    }

    private static func wrongOnes(_ count: Int) -> String {
        count == 1 ? "one more wrong one erases" : "\(count) more wrong ones erase"
    }

    public static let examples: [PasscodeError] =
        [
            .exists, .noPasscode, .same, .wrong(triesLeft: nil), .wrong(triesLeft: 2), .wiped, .tooSoon(seconds: 4),
            .busy, .locked, .expired, .hardwareMissing, .tampered,
        ] + PasscodeFault.allCases.map(PasscodeError.refused)
}

extension PasscodeFault {
    fileprivate var explanation: Explanation {
        switch self {
        case .argument:
            Explanation(
                "vault.passcode-argument", .invalidInput,
                "a passcode is text of 1 to \(Passcode.byteLimit) bytes of UTF-8, without a NUL")
        case .required: Explanation("vault.passcode-required", .unconfigured, "the policy demands a passcode")
        case .needsDigit: Explanation("vault.passcode-needs-digit", .invalidInput, "the passcode needs a digit")
        case .needsLowerCase:
            Explanation("vault.passcode-needs-lower", .invalidInput, "the passcode needs a lower-case letter")
        case .needsSpecial:
            Explanation(
                "vault.passcode-needs-special", .invalidInput,
                "the passcode needs a character that is neither a letter nor a digit")
        case .needsUpperCase:
            Explanation("vault.passcode-needs-upper", .invalidInput, "the passcode needs an upper-case letter")
        case .short:
            Explanation("vault.passcode-short", .invalidInput, "the passcode is shorter than the policy allows")
        case .fewCharacters:
            Explanation("vault.passcode-few-characters", .invalidInput, "the passcode has too few different characters")
        }
    }
}
