import Gateway
import Groundwork
import Messaging
import Proximity

/// When the session is offered to devices nearby, and when no longer. Pure: what happened in, what to do out.
struct SharingKeeper {
    enum Change: Sendable, Equatable {
        /// The agent has begun, or the board is connected: whoever was logged in may still be.
        case ready
        /// Somebody logged in, in the place of whoever was.
        case loggedIn
        case loggedOut
        /// Somebody wants that it ends: by the button, the command or a program.
        case unwanted
        case ended(SharingEnd)
        /// Another attempt is due.
        case due
    }

    enum Action: Equatable {
        /// End what is shared in the name of somebody who is not logged in any more.
        case endForFormerUser
        /// Share, if somebody is logged in and nothing is shared; when that fails, ``Change/due`` is to follow.
        case offer
    }

    private let keeps: Bool
    /// A person has ended it: it begins again with the next log-in, not by itself.
    private var isHeldBack = false

    init(_ policy: ProximitySettings.Share) { keeps = policy == .always }

    mutating func take(_ change: Change) -> [Action] {
        switch change {
        case .loggedIn:
            isHeldBack = false
            return [.endForFormerUser] + offer
        case .loggedOut: return [.endForFormerUser]
        case .unwanted:
            isHeldBack = true
            return []
        // Ended here, and who did that has said why.
        case .ended(.requested): return []
        case .ready, .ended, .due: return offer
        }
    }

    private var offer: [Action] { keeps && !isHeldBack ? [.offer] : [] }
}

extension SharingKeeper.Change {
    /// What an event of the agent means for sharing; `nil` when nothing.
    init?(_ event: AgentEvent) {
        switch event.source {
        case .broker(.connected): self = .ready
        case .gateway(.userDidAuthenticate): self = .loggedIn
        case .gateway(.userDidLogout): self = .loggedOut
        case .broker, .gateway, .outbox, .proximity, .button, .sensor, .own: return nil
        }
    }

    init?(_ event: ProximityEvent) {
        guard case .sharingEndRequested(let source) = event, source != .agent else { return nil }
        self = .unwanted
    }
}
