import Foundation
import GatewayLab
import Glibc
import TestSupport

/// A registered board whose ways to gateway and broker can go bad, and what it does meanwhile.
final class Scene {
    let lab: Lab
    let board: TestBoard
    let gateway: Passage
    let broker: Passage
    let clock: BoardClock
    let names: NameServer?

    /// Readings published so far, numbered from 1.
    private(set) var published = 0
    private var isMeasuredSince = ContinuousClock.now
    private var before = Effort()
    /// What the agent did before its last restart.
    private var earlier = Effort()

    private init(
        _ lab: Lab, _ board: TestBoard, _ gateway: Passage, _ broker: Passage, _ clock: BoardClock, _ names: NameServer?
    ) {
        (self.lab, self.board, self.gateway, self.broker, self.clock, self.names) = (
            lab, board, gateway, broker, clock, names
        )
    }

    /// Gives `body` a board that is registered and connected, and takes everything away afterwards.
    ///
    /// - Parameters:
    ///   - place: the network the board is in.
    ///   - pace: how many times faster the board lives.
    static func with(
        _ configuration: LabConfiguration = LabConfiguration(), place: Place = .loopback, pace: Int = 1,
        settings: String = "",
        _ body: (Scene) async throws -> Void
    ) async throws {
        var configuration = configuration
        let namespace: Namespace? = place == .loopback ? nil : try await Namespace(isIPv6Only: place == .ipv6Network)
        // An address of the loopback net that is this test's alone, so that the lab's ports are free there.
        let address =
            namespace?.address ?? "127." + (0..<3).map { _ in "\(Int.random(in: 1...254))" }.joined(separator: ".")
        configuration.host = namespace == nil ? address : "gateway.lab.test"
        try await undoing { undo in
            if let namespace { undo.append { try? await namespace.remove() } }
            let names = try namespace.map(NameServer.init(in:))
            if let names { undo.append { names.stop() } }
            let lab = try await Lab.start(configuration)
            undo.append { await lab.stop() }
            let board = try TestBoard(settings: "[telemetry]\nenabled = false\n" + settings)
            undo.append { try? await board.tearDown() }
            let gateway = try Passage(to: lab.port, at: address, in: namespace)
            undo.append { gateway.stop() }
            guard let port = lab.brokerPort else { throw Unexpected("the lab has no broker") }
            let broker = try Passage(to: port, at: address, in: namespace)
            undo.append { broker.stop() }
            let clock = try await BoardClock(in: board.folder, pace: pace)
            board.launcher = namespace?.launcher ?? []
            board.environment = clock.environment
            let scene = Scene(lab, board, gateway, broker, clock, names)
            do {
                try await board.start()
                _ = try await board.enroll(at: lab)
                _ = try await scene.connected()
                try await body(scene)
            } catch {
                throw board.withLastWords(error)
            }
        }
    }

    enum Place {
        /// This machine's, where the gateway is an address.
        case loopback
        /// One of its own, where the gateway is a name.
        case network
        case ipv6Network
    }

    // MARK: Readings

    static let topic = "counter"

    /// Publishes so many readings; the agent has to accept them all.
    func publish(_ count: Int) async throws {
        let numbers = (published + 1)...(published + count)
        published += count
        let result = try await board.latchkey(
            "publish", "--lines", Self.topic, input: numbers.map(String.init).joined(separator: "\n"))
        guard result.status == 0 else { throw Unexpected("readings were not accepted: \(result.errors)") }
    }

    /// The readings that reached the broker, in their order, repetitions left out.
    var delivered: [Int] {
        var seen: Set<Int> = []
        return lab.messages.filter { $0.topic.hasSuffix("/custom/\(Self.topic)") }
            .compactMap { Int(String(decoding: $0.payload, as: UTF8.self)) }.filter { seen.insert($0).inserted }
    }

    /// Waits until nothing waits any more.
    ///
    /// - Parameter dropped: how many messages were given up, as they were a former identity's.
    func drained(within seconds: Double = 180, dropping dropped: Int = 0) async throws {
        try await status(within: seconds) {
            $0.outbox?.depth == 0 && $0.outbox?.dropped == dropped
        }
    }

    // MARK: What the agent says

    /// Asks for the status until it is as wanted. Over the socket itself: a program for each question would take more
    /// of the machine than all boards together.
    @discardableResult
    func status(within seconds: Double = 180, until isWanted: (BoardStatus) -> Bool) async throws -> BoardStatus {
        let end = ContinuousClock.now + .seconds(seconds)
        var status: BoardStatus
        repeat {
            status = try LocalStatus.read(board.socket)
            if isWanted(status) { return status }
            try await Task.sleep(for: .milliseconds(200))
        } while ContinuousClock.now < end
        throw Unexpected("the status stayed \(status)")
    }

    /// Waits until readings can be published.
    func hasOutbox() async throws { try await status { $0.outbox?.depth != nil } }

    @discardableResult
    func connected(within seconds: Double = 180) async throws -> BoardStatus {
        try await status(within: seconds) { $0.isConnected }
    }

    /// Ends the connection to the broker, and waits until there is another.
    func connectsAnew(within seconds: Double = 180) async throws {
        let known = occurrences(of: "broker.connected")
        broker.cut()
        let end = ContinuousClock.now + .seconds(seconds)
        while occurrences(of: "broker.connected") == known {
            guard ContinuousClock.now < end else { throw Unexpected("the board did not connect again") }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// How often the agent's log tells of an event.
    private func occurrences(of event: String) -> Int {
        board.daemon?.errors.lines.filter { $0.contains(event) }.count ?? 0
    }

    /// Waits until the agent is not connected to the broker, and says why by this code and what to do.
    func disconnected(because code: String..., within seconds: Double = 180) async throws {
        let status = try await status(within: seconds) {
            !$0.isConnected
                && code.contains($0.broker?.lastError?.code ?? "")
        }
        guard status.broker?.lastError?.remedy != nil else { throw Unexpected("no remedy in \(status)") }
    }

    /// Waits until the newest error is of this code, and says what to do about it.
    @discardableResult
    func says(_ code: String, within seconds: Double = 180) async throws -> String {
        let status = try await status(within: seconds) { $0.lastError?.code == code }
        guard let remedy = status.lastError?.remedy else { throw Unexpected("no remedy in \(status)") }
        return remedy
    }

    /// What the doctor finds by a check, and its remedy.
    func doctor(_ check: String) async throws -> (verdict: String, remedy: String) {
        let result = try await board.latchkey("doctor", "--json")
        let checks = try result.json["checks"] as? [[String: Any]] ?? []
        guard let found = checks.first(where: { $0["name"] as? String == check }),
            let verdict = found["verdict"] as? String
        else { throw Unexpected("the doctor knows no \(check): \(result.output)") }
        return (verdict, found["remedy"] as? String ?? "")
    }

    /// Has the doctor fail a check and say what to do.
    func doctorFails(_ check: String) async throws {
        let (verdict, remedy) = try await doctor(check)
        guard verdict == "fail", !remedy.isEmpty else { throw Unexpected("the doctor says \(verdict) to \(check)") }
    }

    /// A protected call; with its exit status, and the code of the error it failed with.
    func call() async throws -> (status: Int32, code: String?) {
        let result = try await board.latchkey("call", "GET", "/lab/hello", "--json")
        let words = result.output + result.errors
        let error = (try? JSONSerialization.jsonObject(with: Data(words.utf8))) as? [String: Any]
        return (result.status, value(error, "error", "code") as? String ?? error?["code"] as? String)
    }

    /// What must not change unless the gateway says so.
    struct Identity: Equatable {
        var device: String
        var magIdentifier: String
        var certificate: String
    }

    func identity() async throws -> Identity {
        let status = try LocalStatus.read(board.socket)
        guard status.registration.state == "registered",
            let device = status.registration.deviceID,
            let magIdentifier = status.registration.magIdentifier,
            let end = status.certificate?.notAfter
        else { throw Unexpected("the board is not registered: \(status)") }
        return Identity(device: device, magIdentifier: magIdentifier, certificate: end)
    }

    // MARK: What the agent does

    /// What a fault costs.
    struct Effort {
        /// Attempts to connect to the broker, as the agent's log tells.
        var attempts = 0
        /// Requests that reached the gateway.
        var requests = 0
        /// TCP connections that the ways to gateway and broker accepted.
        var connections = 0
        /// Of the processor, in seconds.
        var processor = 0.0
        /// On the clock of this machine.
        var seconds = 0.0

        static func - (_ left: Effort, _ right: Effort) -> Effort {
            Effort(
                attempts: left.attempts - right.attempts, requests: left.requests - right.requests,
                connections: left.connections - right.connections, processor: left.processor - right.processor)
        }
    }

    func beginMeasuring() throws {
        before = try now()
        isMeasuredSince = .now
    }

    /// What was done since ``beginMeasuring()``.
    func effort() throws -> Effort {
        var effort = try now() - before
        effort.seconds = (ContinuousClock.now - isMeasuredSince) / .seconds(1)
        return effort
    }

    /// Ends the agent as a power cut does.
    func cutPower() async throws {
        let known = try now()
        (earlier.attempts, earlier.processor) = (known.attempts, known.processor)
        try await board.stop(SIGKILL)
    }

    private func now() throws -> Effort {
        guard let daemon = board.daemon else { throw Unexpected("the daemon does not run") }
        let stat = try String(contentsOfFile: "/proc/\(daemon.processIdentifier)/stat", encoding: .utf8)
        // User and system time are fields 14 and 15 (proc(5)), counted from the field after the name, which is field 3.
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
        let ticks = (Double(fields[12]) ?? 0) + (Double(fields[13]) ?? 0)
        return Effort(
            attempts: earlier.attempts + occurrences(of: "broker.connecting"),
            requests: lab.requestCounts.reduce(0) { $0 + $1.value }, connections: gateway.accepted + broker.accepted,
            processor: earlier.processor + ticks / 100)
    }
}
