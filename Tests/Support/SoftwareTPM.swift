import Foundation

/// A TPM 2.0 in a process of its own (swtpm), without a resource manager: it has room for three objects and three
/// sessions, so that one that an operation leaves there shows. Ends with its last reference.
package final class SoftwareTPM: @unchecked Sendable {
    // `@unchecked Sendable` is correct because only `init`, `stop()` and `deinit` touch what changes, and each test
    // calls them from one task.
    package let port: Int
    private let directory: String
    private var process: pid_t?

    package var place: String { Self.place(port) }

    package static func place(_ port: Int) -> String { "swtpm:host=127.0.0.1,port=\(port)" }

    package init() throws {
        port = try UnusedPort.reservePair()
        directory = FileManager.default.temporaryDirectory.path + "/latchkey-tpm-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try start()
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Starts it, also again with the same state.
    package func start() throws {
        let address = "bindaddr=127.0.0.1"
        process = try spawn([
            "/usr/bin/swtpm", "socket", "--tpm2", "--tpmstate", "dir=\(directory)", "--server",
            "type=tcp,port=\(port),\(address)", "--ctrl", "type=tcp,port=\(port + 1),\(address)", "--flags",
            "not-need-init,startup-clear",
        ])
        let deadline = ContinuousClock.now + .seconds(20)
        while !LocalPort.accepts(port + 1) {
            guard ContinuousClock.now < deadline else { throw Unexpected("swtpm does not listen on \(port + 1)") }
            usleep(5000)
        }
    }

    /// Ends it at once, as when its power is cut.
    package func stop() {
        guard let process else { return }
        kill(process, SIGKILL)
        _ = ChildProcess.waitForExit(of: process)
        self.process = nil
    }

    /// Runs a command of tpm2-tools with it.
    ///
    /// - Returns: its exit status.
    @discardableResult
    package func run(_ command: String, _ arguments: String...) throws -> Int32 {
        let tool = try spawn(["/usr/bin/\(command)"] + arguments.map { $0.replacing("DIR", with: directory) })
        return ChildProcess.waitForExit(of: tool)
    }

    package func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(directory)/\(name)"))
    }

    package func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: "\(directory)/\(name)")))
    }

    /// The handles of objects and sessions that are loaded in it, as tpm2-tools lists them.
    package func loadedHandles() throws -> String {
        var handles = ""
        for kind in ["handles-transient", "handles-loaded-session"] {
            handles += String(decoding: try capabilities(kind), as: UTF8.self)
        }
        return handles
    }

    /// What `tpm2_getcap` says.
    package func capabilities(_ kind: String) throws -> [UInt8] {
        let tool = try spawn(["/usr/bin/tpm2_getcap", kind], output: "\(directory)/capabilities")
        guard ChildProcess.waitForExit(of: tool) == 0 else { throw Unexpected("no \(kind)") }
        return try read("capabilities")
    }

    private func spawn(_ arguments: [String], output: String = "/dev/null") throws -> pid_t {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        let file = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        defer { for descriptor in [null, file] { close(descriptor) } }
        let variables = ["PATH=/usr/bin:/bin", "TPM2TOOLS_TCTI=\(place)", "TSS2_LOG=all+NONE"]
        return try ChildProcess.spawn(arguments, variables: variables, streams: [null, file, null])
    }
}

/// TCP to this machine.
package enum LocalPort {
    package static func accepts(_ port: Int) -> Bool {
        let descriptor = open(to: port)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    /// -1 if nobody listens there.
    package static func open(to port: Int) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard withAddress(port, { connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            return -1
        }
        return descriptor
    }

    package static func listen(on port: Int) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        guard withAddress(port, { bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 8) == 0 else {
            close(descriptor)
            throw Unexpected("cannot listen on \(port)")
        }
        return descriptor
    }

    private static func withAddress(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
