import AgentCore
import CLinux
import Glibc
import Groundwork

/// The command of an action while it runs, with everything that it starts. In a process of its own, which has nothing
/// of the agent.
package struct ActionCommand {
    private let process: pid_t
    private var input: CInt
    private var output: CInt
    private let watch: CInt
    private var payload: ArraySlice<UInt8>
    private var outcome = ActionOutcome()
    private let outputLimit: Int
    /// The status as waitpid(2) has it, once the command has ended.
    private var status: CInt?

    /// How long a command has after SIGTERM at its time limit.
    private static let grace = Duration.seconds(2)

    /// - Returns: `nil` if it cannot be started; `errno` says why.
    package init?(_ words: [String], variables: [String: String], payload: [UInt8], outputLimit: Int) {
        var (inputs, outputs): ([CInt], [CInt]) = ([-1, -1], [-1, -1])
        guard latchkey_confine() == 0, pipe(&inputs) == 0, pipe(&outputs) == 0 else { return nil }
        var child: pid_t = 0
        var words = words.map { strdup($0) } + [nil]
        var settings = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + settings { free(text) } }
        let status = latchkey_spawn(&child, &words, &settings, inputs[0], outputs[1])
        close(inputs[0])
        close(outputs[1])
        guard status == 0 else {
            errno = status
            return nil
        }
        process = child
        (input, output, watch) = (inputs[1], outputs[0], latchkey_watch_process(child))
        self.payload = payload[...]
        self.outputLimit = outputLimit
        for end in [input, output] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    }

    /// Feeds it and reads its output until it ends, its time is up or the agent hangs up. Nothing that it started goes
    /// on then.
    ///
    /// - Parameter caller: the connection to the agent.
    /// - Returns: `nil` if the agent has gone.
    package mutating func run(for limit: Duration, caller: CInt) -> ActionOutcome? {
        let end = ContinuousClock.now + limit
        var (kill, isWanted) = (end + Self.grace, true)
        while status == nil {
            let now = ContinuousClock.now
            if isWanted, !outcome.timedOut, now >= end {
                outcome.timedOut = true
                signal(SIGTERM)
            }
            if now >= kill { break }
            isWanted = exchange(caller, until: isWanted && !outcome.timedOut ? end : kill) && isWanted
            if !isWanted { kill = min(kill, .now) }
            var found: CInt = 0
            if waitpid(process, &found, WNOHANG) == process { status = found }
        }
        endAll()
        collect()
        guard isWanted else { return nil }
        if let status {
            if status & 0x7F == 0 { outcome.status = status >> 8 & 0xFF } else { outcome.signal = status & 0x7F }
        } else {
            outcome.signal = SIGKILL
        }
        return outcome
    }

    /// Waits for something to do, and does it.
    ///
    /// - Returns: false when the agent has hung up.
    private mutating func exchange(_ caller: CInt, until time: ContinuousClock.Instant) -> Bool {
        var waiting = [
            pollfd(fd: caller, events: 0, revents: 0), pollfd(fd: output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: input, events: Int16(POLLOUT), revents: 0), pollfd(fd: watch, events: Int16(POLLIN), revents: 0),
        ]
        // Without a descriptor of the process, its end is looked for ten times a second.
        let longest = watch >= 0 ? Duration.seconds(3600) : .milliseconds(100)
        let left = min(max(time - .now, .zero), longest)
        _ = poll(&waiting, nfds_t(waiting.count), CInt(clamping: left.wholeMilliseconds + 1))
        if waiting[1].revents != 0 { collect() }
        if waiting[2].revents != 0 || payload.isEmpty { feed() }
        return waiting[0].revents & Int16(POLLHUP | POLLERR) == 0
    }

    private mutating func feed() {
        guard input >= 0 else { return }
        let count = payload.isEmpty ? 0 : payload.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
        if count > 0 { payload = payload.dropFirst(count) }
        // A command need not read what it gets.
        let isOver = payload.isEmpty || (count < 0 && errno != EAGAIN && errno != EINTR)
        guard isOver else { return }
        close(input)
        input = -1
    }

    /// Reads the command's output, and keeps the end of it.
    private mutating func collect() {
        guard output >= 0 else { return }
        var piece = [UInt8](repeating: 0, count: 16_384)
        // Bounded: one that writes without end must not keep its time limit from being seen.
        for _ in 0..<64 {
            let count = read(output, &piece, piece.count)
            if count == 0 {
                close(output)
                output = -1
            }
            guard count > 0 else { return }
            outcome.output += piece[..<count]
            let excess = outcome.output.count - outputLimit
            if excess > 0 {
                outcome.output.removeFirst(excess)
                outcome.omitted += excess
            }
        }
    }

    private func signal(_ number: CInt) { _ = Glibc.kill(-process, number) }

    /// Ends its session and whatever left it: orphans become children of this process.
    private mutating func endAll() {
        signal(SIGKILL)
        let end = ContinuousClock.now + .seconds(5)
        while ContinuousClock.now < end {
            var found: CInt = 0
            let ended = waitpid(-1, &found, WNOHANG)
            if ended == process { status = status ?? found }
            guard ended >= 0 || errno == EINTR else { return }
            guard ended == 0 else { continue }
            for child in Self.children { _ = Glibc.kill(child, SIGKILL) }
            usleep(1000)
        }
    }

    /// Of all threads of this process (proc(5)).
    private static var children: [pid_t] {
        guard let tasks = opendir("/proc/self/task") else { return [] }
        defer { closedir(tasks) }
        var found: [pid_t] = []
        while let entry = readdir(tasks) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let task = Int(name),
                let text = try? BoundedFile.read("/proc/self/task/\(task)/children", limit: 1 << 20)
            else { continue }
            found += text.split(separator: UInt8(ascii: " ")).compactMap { pid_t(String(decoding: $0, as: UTF8.self)) }
        }
        return found
    }
}
