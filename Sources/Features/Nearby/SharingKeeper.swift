import AgentCore
import Gateway
import Groundwork
import Messaging
import Prompts
import Proximity

/// Decides when the session is offered to devices nearby. Pure: changes in, actions out.
package struct SharingKeeper {
    package enum Change: Sendable, Equatable {
        /// The agent has started, the board is connected, or the session is unlocked: the last user may still be logged
        /// in.
        case ready
        /// A user logged in, replacing any former one.
        case loggedIn
        case loggedOut
        /// A person asked to end sharing: by the button, the command or a program.
        case unwanted
        case ended(SharingEnd)
        /// Another attempt is due.
        case due
    }

    package enum Action: Equatable {
        /// End sharing of the session of a user who is no longer logged in.
        case endForFormerUser
        /// Share, if a user is logged in and nothing is shared; after a failure, ``Change/due`` must follow.
        case offer
    }

    private let keeps: Bool
    /// A person has ended sharing: it begins again with the next login, not by itself.
    private var isHeldBack = false

    package init(_ policy: ProximitySettings.Share) { keeps = policy == .always }

    package mutating func take(_ change: Change) -> [Action] {
        switch change {
        case .loggedIn:
            isHeldBack = false
            return [.endForFormerUser] + offer
        case .loggedOut: return [.endForFormerUser]
        case .unwanted:
            isHeldBack = true
            return []
        // Ended on request: the change behind the request decides what follows.
        case .ended(.requested): return []
        case .ready, .ended, .due: return offer
        }
    }

    private var offer: [Action] { keeps && !isHeldBack ? [.offer] : [] }
}

extension SharingKeeper.Change {
    /// What an event of the agent means for sharing; `nil` if nothing.
    package init?(_ event: AgentEvent) {
        if case .connected = event.ofBoard(MessengerEvent.self, at: nil) {
            self = .ready
            return
        }
        // Only the default account shares.
        switch event.ofBoard(GatewayEvent.self) {
        case .userDidAuthenticate: self = .loggedIn
        case .userDidLogout, .sessionLock(.didLock): self = .loggedOut
        case .sessionLock(.didUnlock): self = .ready
        default: return nil
        }
    }

    package init?(_ event: ProximityEvent) {
        guard case .sharingEndRequested(let source) = event, source != .agent else { return nil }
        self = .unwanted
    }
}
