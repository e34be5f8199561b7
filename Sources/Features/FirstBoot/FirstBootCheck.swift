import AgentCore
import Groundwork

/// Fails when an enrollment that waited for the agent cannot be used, and warns when one is still there.
struct FirstBootCheck: HealthCheck {
    static let name = "first-boot"

    func run(_ agent: AgentState) -> Verdict {
        guard let found = agent.found[Self.name], let place = found["place"]?.string,
            let stage = found["state"]?.string.flatMap(FirstBootProgress.Stage.init)
        else { return .skip("no enrollment is waiting") }
        let problem = found["error"]?["message"]?.string
        let remedy = found["error"]?["remedy"]?.string ?? "see: latchkey status --json"
        return switch stage {
        case .taken: .pass("the enrollment in \(place) was used")
        case .scanning where problem == nil: .warn("waiting for a QR code", remedy: "show one to the scanner")
        case .trying where problem == nil: .warn("waiting for the gateway", remedy: "wait a moment")
        case .refused: .fail(problem ?? "the enrollment in \(place) is refused", remedy: remedy)
        case .trying, .scanning, .notWiped, .notUsed: .warn(problem ?? place, remedy: remedy)
        }
    }
}
