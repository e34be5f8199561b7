import FoundationEssentials
import Groundwork
import Vault

/// The input of the health checks, gathered once; the checks themselves query nothing.
package struct AgentState: Sendable {
    package var now: Date
    package var clockIsPlausible: Bool
    /// The file of the newest confirmed time.
    package var clockFile = ""
    package var vaultSlot: Slot.Kind?
    package var vaultFaults: [VaultError] = []
    /// What is wrong with the disk of the state directory.
    package var diskTrouble: String?
    /// Databases that were set aside as damaged and are still in the state directory.
    package var setAside: [String] = []
    /// Findings of features, by a name that the feature chooses.
    package var found: [String: JSON] = [:]
    private var findings: [ObjectIdentifier: any Sendable] = [:]

    package init(now: Date, clockIsPlausible: Bool) {
        self.now = now
        self.clockIsPlausible = clockIsPlausible
    }

    /// Findings of a feature as a value of its own.
    ///
    /// - Parameter preset: as long as there are none.
    package subscript<Findings: Sendable>(type: Findings.Type, default preset: @autoclosure () -> Findings) -> Findings
    {
        get { findings[ObjectIdentifier(type)] as? Findings ?? preset() }
        set { findings[ObjectIdentifier(type)] = newValue }
    }
}
