import Foundation
import Glibc
import TestSupport

/// curl, at the proxy.
struct ProxyCaller {
    let socket: String
    let board: TestBoard

    /// - Parameter uid: of the user who runs it; 0 for root.
    func command(_ arguments: [String], as uid: Int = 0) -> [String] {
        let curl = ["curl", "-sS", "-m", "120", "--unix-socket", socket] + arguments
        return uid == 0 ? curl : Self.user(uid) + curl
    }

    /// What runs a command as a user who may connect.
    static func user(_ uid: Int) -> [String] {
        ["setpriv", "--reuid=\(uid)", "--regid=\(uid)", "--groups=\(ProxyTests.group)"]
    }

    static let scriptPath = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "proxy.py").path

    func run(_ arguments: String..., as uid: Int = 0) async throws -> Program.Result {
        try await Program.found.run(command(arguments, as: uid))
    }

    func status(_ path: String, as uid: Int = 0, _ more: String...) async throws -> String {
        let end = ["-o", "/dev/null", "-w", "%{http_code}", "http://gateway\(path)"]
        return try await Program.found.run(command(more + end, as: uid)).output
    }

    func script(_ arguments: String...) async throws -> Program.Result {
        try await Program.found.run(["python3", "-B", Self.scriptPath] + arguments, seconds: 120)
    }
}

/// A control group where systemd would make one.
struct ControlGroup {
    /// The hierarchy that names units.
    private static let root: String = {
        let own = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? ""
        guard own.hasPrefix("0::") || own.contains("\n0::") else { return "/sys/fs/cgroup/systemd" }
        let unified = "/sys/fs/cgroup/unified"
        return FileManager.default.fileExists(atPath: unified + "/cgroup.procs") ? unified : "/sys/fs/cgroup"
    }()

    /// Whether this test may make groups.
    static let isUsable = geteuid() == 0 && access(root + "/cgroup.procs", W_OK) == 0

    private let path: String
    var processes: String { path + "/cgroup.procs" }

    init(_ name: String) throws {
        path = "\(Self.root)/\(name)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func remove() { rmdir(path) }
}
