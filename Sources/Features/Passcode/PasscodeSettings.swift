import AgentCore
import Groundwork
import Settings
import Vault

/// The table `[passcode]`: the rules for the vault's passcode. One that is not the default makes the settings the place of
/// all.
package struct PasscodeSettings: TypedValue {
    /// `nil` if the settings have only defaults: then those that were set by a command are in force.
    package var policy: PasscodePolicy?

    package init() {}

    static func read(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("passcode") { table in
            var policy = PasscodePolicy()
            table.flag("enabled", &policy.isEnabled)
            table.integer("expiration_days", &policy.expirationDays, in: PasscodePolicy.expirationDaysRange)
            table.flag("digits", &policy.needsDigit)
            table.flag("lower", &policy.needsLowerCase)
            table.flag("upper", &policy.needsUpperCase)
            table.flag("special", &policy.needsSpecial)
            table.flag("default_allowed", &policy.isDefaultAllowed)
            table.flag("default_on", &policy.isDefaultOn)
            table.integer("lock_timeout", &policy.lockTimeoutSeconds, in: PasscodePolicy.lockTimeoutRange)
            table.integer("min_length", &policy.minLength, in: PasscodePolicy.characterRange)
            table.integer("min_unique", &policy.minUniqueCharacters, in: PasscodePolicy.characterRange)
            table.integer("retry_limit", &policy.retryLimit, in: PasscodePolicy.retryRange)
            configuration[PasscodeSettings.self].policy = policy == PasscodePolicy() ? nil : policy
        }
    }
}
