import Glibc
import Vault

/// Wraps the data key of a vault anew: `vault-rewrap VAULT OLD-KEY-FILE NEW-KEY-FILE`. The agent has no command for it yet.
@main
struct Rewrap {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else { exit(EX_USAGE) }
        let vault = try await Vault.open(at: arguments[1], with: [DevelopmentKeyFile(arguments[2])], creating: false)
        try await vault.rewrap(slot: try await vault.openedBy().id, with: DevelopmentKeyFile(arguments[3]))
        await vault.close()
    }
}
