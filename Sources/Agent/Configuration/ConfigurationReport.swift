import Gateway
public import Groundwork
import Settings

/// What `latchkey config check` finds in a file.
public struct ConfigurationReport: Sendable {
    /// What keeps the file from being taken: the place, what is wrong there, what to write instead.
    public private(set) var faults: [String] = []
    /// What is no fault but worth a look: settings without effect, keys that are not known.
    public private(set) var notices: [String] = []

    /// - Parameters:
    ///   - path: a gateway's document when it ends in `.json`, else the agent's own settings.
    ///   - comparesMachine: whether to look for what the agent's settings name on this machine as well: users, groups, files,
    ///     the board definition, the Bluetooth adapter.
    public init(of bytes: [UInt8], path: String, comparesMachine: Bool = false) {
        if path.hasSuffix(".json") { checkGateway(bytes) } else { checkAgent(bytes, path, comparesMachine) }
    }

    private mutating func checkGateway(_ bytes: [UInt8]) {
        do {
            let configuration = try GatewayConfiguration(parsing: bytes)
            notices += configuration.warnings.map { "\($0.path) \($0.fault); \($0.fix)" }
            notices += configuration.ignoredKeys.map { "\($0) is not known and ignored" }
        } catch .configurationInvalid(let found) {
            faults = found.map { "\($0.path) \($0.fault); \($0.fix)" }
        } catch {
            faults = [error.message]
        }
    }

    private mutating func checkAgent(_ bytes: [UInt8], _ path: String, _ comparesMachine: Bool) {
        do {
            let configuration = try AgentConfiguration(bytes: bytes, path: path)
            guard comparesMachine else { return }
            let comparison = MachineComparison(configuration)
            faults = comparison.faults.map(\.description)
            notices = comparison.notices.map(\.description)
        } catch .faults(_, let found) {
            faults = found.map(\.description)
        } catch {
            faults = [error.message]
        }
    }

    /// The report for programs.
    public var json: JSON {
        ["faults": .array(faults.map(JSON.string)), "notices": .array(notices.map(JSON.string))]
    }
}
