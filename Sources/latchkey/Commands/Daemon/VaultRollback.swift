import ArgumentParser
import Groundwork

extension VaultCommand {
    struct AcceptRollback: RouteCommand {
        static let configuration = CommandConfiguration(
            commandName: "accept-rollback", abstract: "Go on with a store that is an earlier copy.",
            discussion: """
                A counter in the TPM shows that an earlier copy of the store was put back, or the counter is gone with \
                its TPM. Find out why before this store counts as the newest: the tries of a passcode, the slots and \
                the registrations are as they were then. Needs root.

                  $ sudo latchkey vault accept-rollback
                """)
        @Flag(help: "Do not ask for confirmation.") var yes = false
        @OptionGroup var options: ClientOptions

        func confirm() throws {
            try Confirmation.ask("this store will count as the newest from now on", isGiven: yes)
        }

        func request() -> RouteRequest { .post("vault/accept-rollback", timeout: .seconds(120)) }

        func text(of answer: JSON) -> String {
            answer["guarded"]?.bool == true ? "accepted; the agent goes on within seconds" : "nothing guards the store"
        }
    }
}
