/// The six names that Oracle's mobile SDK has for levels of protection (OAMMS C7).
public enum LevelName: String, Sendable, CaseIterable {
    case whenUnlocked = "KeychainDataAccessibleWhenUnlocked"
    case afterFirstUnlock = "KeychainDataAccessibleAfterFirstUnlock"
    case always = "KeychainDataAccessibleAlways"
    case whenUnlockedThisDeviceOnly = "KeychainDataAccessibleWhenUnlockedThisDeviceOnly"
    case afterFirstUnlockThisDeviceOnly = "KeychainDataAccessibleAfterFirstUnlockThisDeviceOnly"
    case alwaysThisDeviceOnly = "KeychainDataAccessibleAlwaysThisDeviceOnly"

    /// - Parameter name: one of the six, or its end, such as `WhenUnlocked`.
    /// - Throws: ``ObjectError/unknownLevel``
    public init(parsing name: String) throws(ObjectError) {
        guard let level = LevelName(rawValue: name) ?? LevelName(rawValue: "KeychainDataAccessible" + name) else {
            throw .unknownLevel
        }
        self = level
    }

    /// The level of the vault's records.
    public var level: ProtectionLevel {
        switch self {
        case .always, .alwaysThisDeviceOnly: .always
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .firstUnlock
        case .whenUnlocked, .whenUnlockedThisDeviceOnly: .unlocked
        }
    }

    /// Whether a copy of the vault for another board leaves it out.
    public var isThisDeviceOnly: Bool {
        switch self {
        case .whenUnlocked, .afterFirstUnlock, .always: false
        case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly, .alwaysThisDeviceOnly: true
        }
    }
}
