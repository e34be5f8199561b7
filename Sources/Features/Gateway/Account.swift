import AgentCore
import Gateway
import Groundwork

/// A named relation of this board to one gateway: its registration there, its tokens and its logged-in user.
package struct Account: Sendable {
    package let name: AccountName
    package let link: Link

    package var session: GatewaySession { link.session }
    package var gateway: GatewayConfiguration { link.gateway }
}

/// The accounts of this board at gateways, each with its running task.
package struct AccountTable {
    private var held: [AccountName: (account: Account, task: Task<Void, Never>)] = [:]

    /// Why the stored records of the other accounts cannot be used.
    package var unusable: [AccountName: Explanation] = [:]

    /// What an account is doing while it is started or stopped.
    package var passing: [AccountName: StartState] = [:]

    /// The default account first, then the others by name.
    package var all: [Account] { held.values.map(\.account).sorted { $0.name < $1.name } }

    package subscript(name: AccountName) -> Account? { held[name]?.account }

    package mutating func hold(_ account: Account, runBy task: Task<Void, Never>) {
        held[account.name] = (account, task)
        unusable[account.name] = nil
    }

    /// - Returns: its task, which the caller has to end.
    package mutating func drop(_ name: AccountName) -> Task<Void, Never>? { held.removeValue(forKey: name)?.task }
}
