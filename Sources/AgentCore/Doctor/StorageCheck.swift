/// Fails when the disk of the state directory is full or read-only; warns while a damaged database that was set aside
/// is still there.
package struct StorageCheck: HealthCheck {
    package static let name = "storage"

    package init() {}

    package func run(_ agent: AgentState) -> Verdict {
        if let trouble = agent.diskTrouble {
            return .fail(trouble, remedy: "free some space on it, or look for disk errors in the kernel's log (dmesg)")
        }
        guard let first = agent.setAside.first else {
            return .pass("there is free space, and no database was set aside as damaged")
        }
        let others = agent.setAside.count == 1 ? "" : " and \(agent.setAside.count - 1) more"
        return .warn(
            "\(first)\(others) was damaged and set aside",
            remedy: "look for disk errors in the kernel's log (dmesg); keep the files for examination, then remove them"
        )
    }
}
