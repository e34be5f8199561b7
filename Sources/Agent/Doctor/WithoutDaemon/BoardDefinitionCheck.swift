import AgentCore
import Board
import Groundwork

/// Warns when the agent would have no board definition: it would start, without sensors, button and LED.
struct BoardDefinitionCheck: InstallationCheck {
    static let name = "board"

    func run(_ installation: Installation) -> Verdict? {
        switch installation.board {
        case nil: nil
        case .success(let title): .pass(title)
        case .failure(let error):
            .warn(error.message, remedy: error.remedy ?? "name a definition in board.definition: latchkey board list")
        }
    }
}
