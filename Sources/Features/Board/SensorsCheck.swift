import AgentCore
import Board
import Groundwork

/// Fails when a sensor does not respond, or when there is no usable board definition.
struct SensorsCheck: HealthCheck {
    static let name = "sensors"

    func run(_ agent: AgentState) -> Verdict {
        if let fault = agent.board.fault {
            return .fail(
                fault.message, remedy: fault.remedy ?? "name a definition in board.definition: latchkey board list")
        }
        guard let first = agent.board.failingSensors.first else {
            let absent = agent.board.absentSensorCount
            guard absent == 0 else {
                return .pass(
                    "\(agent.board.sensorCount - absent) of \(agent.board.sensorCount) respond; the others are optional"
                )
            }
            return switch agent.board.sensorCount {
            case 0: .pass("the board definition names none")
            case 1: .pass("the only one responds")
            default: .pass("all \(agent.board.sensorCount) respond")
            }
        }
        let others = agent.board.failingSensors.count - 1
        return .fail(
            first.error.message + (others > 0 ? ", and \(others) more fail" : ""),
            remedy: first.error.remedy ?? "check the wiring and the driver: latchkey board check")
    }
}
