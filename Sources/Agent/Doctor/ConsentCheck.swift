/// Warns when this board shares by itself and has no button to give consent by.
struct ConsentCheck: HealthCheck {
    static let name = "consent"

    func run(_ agent: AgentState) -> Verdict {
        if agent.hasButton { return .pass("by the board's button, and by: latchkey consent") }
        let remedy = "name a button in the board definition; until then answer by: latchkey consent"
        switch agent.sharing {
        case .never: return .pass("by: latchkey consent")
        case .always: return .warn("this board has no button to give consent by", remedy: remedy)
        case .button: return .fail("this board shares after a press of its button, and has none", remedy: remedy)
        }
    }
}
