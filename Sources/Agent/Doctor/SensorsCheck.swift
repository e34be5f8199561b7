import Board
import Groundwork

/// Fails when a sensor does not respond, or when there is no usable board definition.
struct SensorsCheck: HealthCheck {
    static let name = "sensors"

    func run(_ agent: AgentState) -> Verdict {
        if let fault = agent.boardFault {
            return .fail(
                fault.message, remedy: fault.remedy ?? "name a definition in board.definition: latchkey board list")
        }
        guard let first = agent.failingSensors.first else {
            return .pass(agent.sensorCount == 1 ? "the only one responds" : "all \(agent.sensorCount) respond")
        }
        let others = agent.failingSensors.count - 1
        return .fail(
            first.error.message + (others > 0 ? ", and \(others) more fail" : ""),
            remedy: first.error.remedy ?? "check the wiring and the driver: latchkey board check")
    }
}
