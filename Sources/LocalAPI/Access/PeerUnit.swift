import CMicroHTTPD
import Glibc
import Groundwork

/// The systemd unit of the process at the other end of a connection.
///
/// Only units of the system's manager count: the name of a unit of a user's own manager is whatever that user chose,
/// and such a process is in the system's unit `user@UID.service`. The unit is that of the process that made the
/// connection, at the time when it was made; whom that process gives the connection to, speaks for it.
enum PeerUnit: Equatable {
    /// `nil` for none.
    case known(String?)
    /// It is none of these; which one it is, or whether any, is not known.
    case noneOf(Set<String>)

    /// The largest file that is read, in bytes: a unit may have thousands of processes.
    private static let limit = 1 << 16

    /// - Parameter names: units whose processes are looked for if `/proc` hides the process (`ProtectProc=`).
    static func of(_ pid: Int32, of uid: UInt32, at descriptor: Int32, among names: Set<String>) -> PeerUnit {
        var isCertain: Int32 = 0
        let process = latchkey_process_of(descriptor, pid, &isCertain)
        guard process >= 0 else { return .noneOf([]) }
        defer { close(process) }
        let found: PeerUnit
        if let text = try? BoundedFile.read("/proc/\(pid)/cgroup", limit: limit, .anything) {
            found = .known(unit(in: String(decoding: text, as: UTF8.self)))
        } else if let name = names.first(where: { isProcess(pid, of: $0) }) {
            found = .known(name)
        } else {
            found = .noneOf(names)
        }
        // Its number was its own for all of this if it is still alive; a number that it lost may be another's.
        var state = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
        guard poll(&state, 1, 0) == 0 else { return .noneOf([]) }
        // Before Linux 6.5 the number may have been another's from the beginning, but then rarely the same user's.
        guard isCertain != 0 || owner(of: pid) == uid else { return .noneOf([]) }
        return found
    }

    private static func owner(of pid: Int32) -> UInt32? {
        var status = stat()
        return stat("/proc/\(pid)", &status) == 0 ? status.st_uid : nil
    }

    /// - Parameter text: of `/proc/PID/cgroup` (cgroups(7)).
    static func unit(in text: String) -> String? {
        let lines = text.split(separator: "\n")
        let line = lines.first { $0.hasPrefix("0::") } ?? lines.first { $0.contains(":name=systemd:") }
        guard let path = line?.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).last,
            path.hasPrefix("/")
        else { return nil }
        // The first that is not a slice: below a unit that was delegated, its owner chooses the names.
        let first = path.split(separator: "/").first { !$0.hasSuffix(".slice") }
        guard let first, first.hasSuffix(".service") || first.hasSuffix(".scope") else { return nil }
        return String(first)
    }

    /// As systemd writes a name in the name of a slice.
    private static func escaped(_ name: Substring) -> String {
        name.reduce(into: "") { text, character in text += character == "-" ? "\\x2d" : String(character) }
    }

    /// Whether the unit, in its usual place, has the process.
    private static func isProcess(_ pid: Int32, of unit: String) -> Bool {
        guard !unit.contains("/"), !unit.hasPrefix(".") else { return false }
        let folder: String
        if let mark = unit.firstIndex(of: "@") {
            folder = "system.slice/system-\(escaped(unit[..<mark])).slice/\(unit)"
        } else {
            folder = "system.slice/\(unit)"
        }
        let path = "/sys/fs/cgroup/\(folder)/cgroup.procs"
        guard let text = try? BoundedFile.read(path, limit: limit, .anything) else { return false }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").contains { $0 == "\(pid)" }
    }
}
