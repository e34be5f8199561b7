import AgentCore
import Board
import Groundwork

/// What is found of the board's parts.
struct BoardFindings: Sendable {
    /// Why there is no board definition.
    var fault: BoardError?
    var sensorCount = 0
    /// Optional sensors that have not responded since the start.
    var absentSensorCount = 0
    var failingSensors: [SensorPoller.Failure] = []
    var lineCount = 0
    var linesAreSimulated = false
    var lineFaults: [BoardError] = []
    /// `nil` while nothing was counted.
    var traffic: TrafficReport?
}

extension AgentState {
    var board: BoardFindings {
        get { self[BoardFindings.self, default: BoardFindings()] }
        set { self[BoardFindings.self, default: BoardFindings()] = newValue }
    }
}
