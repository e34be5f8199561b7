import AgentCore
import Proximity

/// Warns when this board shares by itself and has no usable button to give consent with.
package struct ConsentCheck: HealthCheck {
    package static let name = "consent"

    package func run(_ agent: AgentState) -> Verdict {
        if agent.nearby.hasButton, let fault = agent.nearby.buttonFault {
            return .warn("the board's button cannot be used: \(fault.text)", remedy: fault.remedy)
        }
        if agent.nearby.hasButton { return .pass("by the board's button, and by: latchkey consent") }
        let remedy = "name a button in the board definition; until then answer by: latchkey consent"
        switch agent.nearby.sharing {
        case .never: return .pass("by: latchkey consent")
        case .always: return .warn("this board has no button to give consent with", remedy: remedy)
        case .button: return .fail("this board shares after a press of its button, but has no button", remedy: remedy)
        }
    }
}

extension ButtonFault {
    fileprivate var remedy: String {
        switch self {
        case .downWhenAsked, .stuck:
            "release it, or check the line named in the board definition; until then answer by: latchkey consent"
        case .missing: "latchkey board check says why; until then answer by: latchkey consent"
        }
    }
}
