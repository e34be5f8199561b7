import AgentCore
import FoundationEssentials
import Gateway
import Glibc
import Groundwork
import HTTPClient
import LocalAPI
import Messaging
import Vault

/// What a daemon would find in its state directory, on this machine and in its network.
extension Installation {
    package mutating func gatherState(_ settings: AgentConfiguration) {
        let path = settings.stateDirectory
        switch stateDirectory {
        case .missing: store = .missing
        case .hidden: store = .skipped("this user cannot inspect \(path)")
        case .there:
            let time = BestKnownTime(path: "\(path)/clock")
            var state = AgentState(
                now: time.now, clockIsPlausible: time.isPlausible)
            state.clockFile = time.path
            state.diskTrouble = StateDirectory.trouble(in: path)
            state.setAside = StateDirectory.setAside(in: path)
            self.state = state
            // Copied while an agent writes, the file would look damaged.
            store = lock == .free ? Self.store(at: "\(path)/vault.db") : .skipped("an agent may have it open")
        }
    }

    private static func store(at path: String) -> Store {
        guard entry(path) != .missing else { return .missing }
        guard access(path, R_OK) == 0 else { return .skipped("this user cannot read \(path)") }
        let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        var template = Array("\(base)/latchkey-doctor-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return .skipped("there is no room for a copy of it in \(base)") }
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer {
            for suffix in ["-wal", "-shm", "-journal", ""] { unlink("\(folder)/vault.db\(suffix)") }
            rmdir(folder)
        }
        do {
            return .sealed(try Vault.slots(of: path, copiedInto: folder))
        } catch {
            var message = error.message
            if let copy = message.firstRange(of: "\(folder)/vault.db") { message.replaceSubrange(copy, with: path) }
            return .faulty(message)
        }
    }

    // MARK: Libraries

    /// The libraries that are loaded with their first use; without the others this program does not even start.
    package static func libraryFaults() -> [String] {
        [HTTPClient.libraryFault, LocalServer.libraryFault].compactMap { $0 }
    }

    // MARK: Names

    /// The most hosts that are looked up.
    private static let hostLimit = 8

    /// Looks up the hosts that the settings name, until one has no address: the others would wait as long.
    package static func hosts(
        of settings: AgentConfiguration, readBy features: [any Feature.Type],
        hasAddress: (String) -> Bool = Self.hasAddress
    ) -> [Host] {
        let named = features.flatMap { $0.hosts(in: settings) }
        var found: [Host] = []
        for name in named where !name.isEmpty && !found.contains(where: { $0.name == name }) {
            guard found.count < hostLimit else { break }
            found.append(Host(name: name, hasAddress: hasAddress(name)))
            guard found.last?.hasAddress == true else { break }
        }
        return found
    }

    private static func hasAddress(_ name: String) -> Bool {
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, nil, &found) == 0 else { return false }
        freeaddrinfo(found)
        return true
    }
}
