import AgentCore
import Gateway
import Groundwork
import Settings

/// What `latchkey config check` finds in a file.
package struct ConfigurationReport: Sendable {
    /// Why the file is not accepted: the place, what is wrong there, what to write instead.
    package private(set) var faults: [Finding] = []
    /// Not faults but worth a look: settings without effect, unknown keys.
    package private(set) var notices: [Finding] = []

    /// One fault or notice.
    package struct Finding: Sendable, Equatable, CustomStringConvertible {
        /// The drop-in that it is in; `nil` for the file that was checked.
        package let file: String?
        /// The place: keys joined by dots; empty for the file as a whole.
        package let path: String
        /// What is wrong there.
        package let message: String
        /// What to write instead, if that is known.
        package let remedy: String?

        /// In one line, for people.
        package let description: String

        /// - Parameter mark: between path and message.
        package init(
            _ path: String, _ message: String, remedy: String? = nil, mark: String = " ", file: String? = nil
        ) {
            self.file = file
            self.path = path
            self.message = message
            self.remedy = remedy
            let place = (file.map { "\($0): " } ?? "") + (path.isEmpty ? "" : path + mark)
            description = place + message + (remedy.map { "; \($0)" } ?? "")
        }

        package init(_ fault: SettingsFault) {
            self.init(fault.keyPath, fault.fault, remedy: fault.fix, mark: ": ", file: fault.file)
        }

        package var json: JSON {
            var members: [String: JSON] = ["path": .string(path), "message": .string(message)]
            if let remedy { members["remedy"] = .string(remedy) }
            if let file { members["file"] = .string(file) }
            return .object(members)
        }
    }

    /// - Parameters:
    ///   - path: a gateway's document when it ends in `.json`, else the agent's own settings, which are checked with
    ///     the drop-ins beside them.
    ///   - comparesMachine: whether to check too that this machine has what the agent's settings name: users, groups,
    ///     files, the board definition, the Bluetooth adapter.
    package init(of bytes: [UInt8], path: String, comparesMachine: Bool = false, of features: [any Feature.Type]) {
        if path.hasSuffix(".json") { checkGateway(bytes) } else { checkAgent(bytes, path, comparesMachine, features) }
    }

    private mutating func checkGateway(_ bytes: [UInt8]) {
        let document: [UInt8]
        do throws(ReceivedText.Fault) {
            document = Array(try ReceivedText.decode(bytes).utf8)
        } catch {
            faults = [Finding("", error.reason)]
            return
        }
        do {
            let configuration = try GatewayConfiguration(parsing: document)
            notices += configuration.warnings.map { Finding($0.path, $0.fault, remedy: $0.fix) }
            notices += configuration.ignoredKeys.map { Finding($0, "is not known and ignored") }
        } catch .configurationInvalid(let found) {
            faults = found.map { Finding($0.path, $0.fault, remedy: $0.fix) }
        } catch {
            faults = [Finding("", error.message, remedy: error.remedy)]
        }
    }

    private mutating func checkAgent(
        _ bytes: [UInt8], _ path: String, _ comparesMachine: Bool, _ features: [any Feature.Type]
    ) {
        do {
            let layers = try SettingsLayers.read(path, bytes)
            let configuration = try AgentConfiguration(layers, of: features)
            guard comparesMachine else { return }
            let comparison = MachineComparison(configuration, of: features)
            faults = comparison.faults.map { Finding(layers.placed($0)) }
            notices = comparison.notices.map { Finding(layers.placed($0)) }
        } catch .faults(_, let found) {
            faults = found.map(Finding.init)
        } catch {
            faults = [Finding("", error.message, remedy: error.remedy)]
        }
    }

    /// The report for programs.
    package var json: JSON {
        ["faults": .array(faults.map(\.json)), "notices": .array(notices.map(\.json))]
    }
}
