@_spi(KeyBytes) import Cryptography
import Foundation
import Groundwork
import Logging

/// Mosquitto with the lab's CA, the lab's plugin and none of the system's configuration.
///
/// Debian's broker itself does TLS and MQTT, so that clients talk to a real one; the lab only decides who may connect.
actor Broker {
    let port: Int
    nonisolated let gate: BrokerGate
    private let plugin: String
    private let packetLimit: Int
    private let listenAddress: String
    private let files: StateKeeper
    private let persistence: String
    private let logger: Logger
    private var process: Process?
    private var exit: Task<Void, Never>?
    private var gateTask: Task<Void, any Error>?

    /// - Parameter files: a directory of the lab's own, with a path short enough for a Unix socket (107 bytes).
    /// - Throws: ``LabError``
    init(
        configuration: LabConfiguration, port: Int, identity: TLSIdentity, authority: Certificate, gate: BrokerGate,
        files: StateKeeper, logger: Logger
    ) throws {
        self.port = port
        self.gate = gate
        self.files = files
        self.logger = logger
        listenAddress = configuration.listenAddress
        packetLimit = configuration.brokerPacketLimit
        plugin = try BrokerPluginFile.find(configured: configuration.brokerPlugin)
        persistence = (configuration.dataDirectory ?? files.directory) + "/broker/"
        do {
            try FileManager.default.createDirectory(
                atPath: persistence, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw LabError.cannotKeep(path: persistence, reason: error.localizedDescription)
        }
        let chain = identity.chain.map(\.pem).joined()
        try files.write(Data(chain.utf8), to: "server.pem")
        try files.write(Data(PEM.privateKey(identity.key.pkcs8().exposed()).utf8), to: "server.key")
        try files.write(Data(authority.pem.utf8), to: "ca.pem")
    }

    /// Returns when the broker accepts connections.
    /// - Throws: `LabError.brokerMissing`, `LabError.cannotListen`, `LabError.brokerFailed` with its last log lines
    func start() async throws {
        guard process == nil else { return }
        try await openGate()
        let configurationFile = try files.write(Data(configurationText.utf8), to: "mosquitto.conf")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try Self.program())
        process.arguments = ["-c", configurationFile]
        let (lines, output) = try Self.lines()
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        let (ended, end) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in end.finish() }
        do {
            try process.run()
        } catch {
            throw LabError.brokerFailed(reason: error.localizedDescription)
        }
        // The log ends with the broker, which alone holds it open.
        try? output.close()
        self.process = process
        exit = Task { for await _ in ended {} }
        var last: [String] = []
        var iterator = lines.makeAsyncIterator()
        while let line = await iterator.next() {
            if line.contains("mosquitto version"), line.contains("running") {
                drain(lines)
                return
            }
            last = last.suffix(3) + [line]
        }
        await stop()
        // The broker's log does not name the port.
        if last.contains(where: { $0.contains(String(cString: strerror(EADDRINUSE))) }) {
            throw LabError.cannotListen(address: listenAddress, port: port, reason: LabError.portTaken)
        }
        throw LabError.brokerFailed(reason: last.joined(separator: "; "))
    }

    /// Ends the broker and returns when it is gone.
    /// - Parameter abruptly: kills it, so that it cannot save its state.
    func stop(abruptly: Bool = false) async {
        signal(abruptly ? SIGKILL : SIGTERM)
        // A suspended process only acts on the signal when it continues.
        signal(SIGCONT)
        let killTimer = Task {
            try await Task.sleep(for: .seconds(5))
            signal(SIGKILL)
        }
        await exit?.value
        killTimer.cancel()
        process = nil
        exit = nil
        gateTask?.cancel()
        _ = await gateTask?.result
        gateTask = nil
    }

    /// Stops the process without ending its connections, like a machine that hangs.
    func suspend() { signal(SIGSTOP) }
    func resume() { signal(SIGCONT) }

    private func signal(_ number: Int32) {
        if let process, process.isRunning { kill(process.processIdentifier, number) }
    }

    private var socketPath: String { files.directory + "/gate" }

    private func openGate() async throws {
        guard gateTask == nil else { return }
        let (ready, isReady) = AsyncStream<Void>.makeStream()
        let path = socketPath
        gateTask = Task { [gate] in
            defer { isReady.finish() }
            try await BrokerGateSocket.serve(gate, at: path) { isReady.yield() }
        }
        for await _ in ready { return }
        throw LabError.brokerFailed(reason: "cannot listen at \(path)")
    }

    /// As root, Mosquitto would drop its privileges and lose access to its files, so it is told to stay root.
    private var configurationText: String {
        """
        listener \(port) \(listenAddress)
        cafile \(files.directory)/ca.pem
        certfile \(files.directory)/server.pem
        keyfile \(files.directory)/server.key
        tls_version tlsv1.2
        require_certificate true
        allow_anonymous false
        allow_zero_length_clientid false
        plugin \(plugin)
        plugin_opt_socket \(socketPath)
        persistence true
        persistence_location \(persistence)
        autosave_interval 5
        max_queued_messages 10000
        max_packet_size \(packetLimit)
        set_tcp_nodelay true
        log_dest stderr
        log_type error
        log_type warning
        log_type notice
        log_type information
        \(getuid() == 0 ? "user root" : "")

        """
    }

    private func drain(_ lines: AsyncStream<String>) {
        Task { [logger] in
            for await line in lines { logger.debug("mosquitto: \(line)") }
        }
    }

    private static func program() throws -> String {
        let directories = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"]
        guard let found = directories.map({ $0 + "/mosquitto" }).first(where: FileManager.default.isExecutableFile)
        else { throw LabError.brokerMissing }
        return found
    }

    /// A stream whose text arrives line by line; ends when the writer is gone.
    ///
    /// - Returns: the lines, and the end for the writer.
    private static func lines() throws -> (AsyncStream<String>, FileHandle) {
        // Foundation's own pipe is inherited by every program that is started meanwhile, and has no end before theirs.
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw LabError.brokerFailed(reason: String(cString: strerror(errno)))
        }
        let (lines, continuation) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1000))
        let reading = ends[0]
        // Not the file handle's readability handler: libdispatch crashes if the descriptor's number is soon reused.
        Thread.detachNewThread {
            defer { close(reading) }
            var rest: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(reading, &piece, piece.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                rest += piece[..<count]
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest.removeSubrange(...end)
                }
            }
            continuation.finish()
        }
        return (lines, FileHandle(fileDescriptor: ends[1], closeOnDealloc: true))
    }
}
