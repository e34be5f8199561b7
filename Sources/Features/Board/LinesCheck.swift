import AgentCore
import Board
import Groundwork

/// Fails when the button or the LED of the board definition cannot be used.
struct LinesCheck: HealthCheck {
    static let name = "gpio"

    func run(_ agent: AgentState) -> Verdict {
        if let error = agent.board.lineFaults.first {
            return .fail(error.message, remedy: error.remedy ?? "compare the board definition with: gpioinfo")
        }
        guard agent.board.fault == nil else { return .skip("not checked without a board definition") }
        guard agent.board.lineCount > 0 else { return .pass("this board's definition names no lines") }
        return agent.board.linesAreSimulated
            ? .warn("button and LED are simulated", remedy: "name a definition with GPIO lines in board.definition")
            : .pass("\(agent.board.lineCount) lines in use")
    }
}
