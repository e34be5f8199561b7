import Groundwork
import LocalAPI
import Synchronization

/// What became of an enrollment that waited for the agent, for the status, the doctor and the LED.
struct FirstBootProgress: Sendable, Equatable {
    enum Stage: String, CaseIterable {
        /// The gateway is being asked, or will be asked again.
        case trying
        /// It can never be used.
        case refused
        case taken
        case notWiped = "not-wiped"
        /// It is there, and is not used.
        case notUsed = "not-used"
        /// A code may be scanned.
        case scanning
    }

    var stage: Stage
    var place: String
    /// The members that explain what is wrong, if anything is.
    var problem: [String: JSON]?

    var json: JSON {
        var members: [String: JSON] = ["state": .string(stage.rawValue), "place": .string(place)]
        if let problem { members["error"] = .object(problem) }
        return .object(members)
    }

    static var schema: Schema {
        .object(
            [
                "state": .choice("what became of it", of: Stage.self),
                "place": .string("where it waited: a path, the credential or the scanner"), "error": .problem,
            ], required: ["state", "place"], "The enrollment that waited for the agent, where there was one")
    }
}

/// The progress now; nothing until an enrollment is found.
final class FirstBootState: Sendable {
    private let progress = Mutex<FirstBootProgress?>(nil)

    var now: FirstBootProgress? {
        get { progress.withLock { $0 } }
        set { progress.withLock { $0 = newValue } }
    }
}
