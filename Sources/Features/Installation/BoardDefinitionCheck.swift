import AgentCore
import Board
import Groundwork

/// Warns when the agent would have no board definition: it would start, without sensors, button and LED.
package struct BoardDefinitionCheck: InstallationCheck {
    package static let name = "board"

    package func run(_ installation: Installation) -> Verdict? {
        switch installation.board {
        case nil: nil
        case .success(let title): .pass(title)
        case .failure(let error):
            .warn(error.message, remedy: error.remedy ?? "name a definition in board.definition: latchkey board list")
        }
    }
}
