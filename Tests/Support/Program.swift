import Foundation
import Glibc
import Synchronization

/// A program of this package, run as a user runs it.
package struct Program {
    package let url: URL

    /// The folder that programs are built into: the one that this test runs from.
    package static let folder: URL = {
        // The test bundle lies beside the programs; the runner of Swift Testing is started with its path.
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        return URL(filePath: bundle).deletingLastPathComponent()
    }()

    /// Whether programs have a sanitizer, which keeps what is freed and remembers what was: their memory grows by that.
    package static let isSanitized = ProcessInfo.processInfo.environment["LATCHKEY_SANITIZER"] != nil

    /// The program that is named first in the arguments, found by PATH.
    package static let found = Program(url: URL(filePath: "/usr/bin/env"))

    /// `latchkey` as it is shipped, where that has been built: it takes a quarter of the time. Kill points and
    /// sanitizers are in that of this build alone.
    package static let shipped =
        ProcessInfo.processInfo.environment["LATCHKEY_RELEASE_BUILD"].map { Program(url: URL(filePath: $0)) }
        ?? Program(name: "latchkey")

    /// A program of this build.
    package init(name: String) { url = Self.folder.appending(path: name) }
    package init(url: URL) { self.url = url }

    package struct Result {
        package let status: Int32
        package let output: String
        package let errors: String

        package var json: [String: Any] {
            get throws {
                guard let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] else {
                    throw Unexpected("no JSON object: \(output) \(errors)")
                }
                return object
            }
        }
    }

    /// Runs it to its end; one that does not end in time is killed.
    package func run(
        _ arguments: [String], input: String? = nil, environment: [String: String] = [:], seconds: Double = 180
    ) async throws
        -> Result
    {
        let running = try RunningProgram(url, arguments, environment: environment, input: input)
        let status = try await running.ended(within: seconds)
        return Result(status: status, output: running.output.text, errors: running.errors.text)
    }
}

/// A process under way, whose output can be awaited line by line.
package final class RunningProgram: Sendable {
    package let output = Collected()
    package let errors = Collected()
    package let processIdentifier: pid_t
    private let url: URL
    private let arguments: [String]
    private let exit: AsyncStream<Int32>
    private let isOver = Mutex(false)

    package init(_ url: URL, _ arguments: [String], environment: [String: String] = [:], input: String? = nil) throws {
        let (out, err, stdin) = (try Channel(), try Channel(), try Channel())
        let variables = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }.map {
            "\($0.key)=\($0.value)"
        }
        let process = try ChildProcess.spawn(
            [url.path] + arguments, variables: variables, streams: [stdin, out, err].map(\.childEnd))
        processIdentifier = process
        (self.url, self.arguments) = (url, arguments)
        for channel in [out, err, stdin] { close(channel.childEnd) }
        out.read(into: output)
        err.read(into: errors)
        if let input { stdin.write(Array(input.utf8)) }
        close(stdin.ownEnd)

        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        exit = stream
        Thread.detachNewThread { [self] in
            // Until it is reaped its number belongs to it, and afterwards nobody may send a signal there.
            var ending = siginfo_t()
            while waitid(P_PID, id_t(process), &ending, WEXITED | WNOWAIT) < 0, errno == EINTR {}
            let status = isOver.withLock {
                $0 = true
                return ChildProcess.waitForExit(of: process)
            }
            continuation.yield(status)
            continuation.finish()
        }
        StartedPrograms.here?.add(self)
    }

    /// Sends it a signal, unless it has ended.
    package func signal(_ number: Int32) { isOver.withLock { if !$0 { kill(processIdentifier, number) } } }

    /// A connection between this process and a child, which no other child inherits.
    private struct Channel {
        let ownEnd: Int32
        let childEnd: Int32

        init() throws {
            var ends: [Int32] = [0, 0]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
                throw Unexpected("no socket pair: \(String(cString: strerror(errno)))")
            }
            (ownEnd, childEnd) = (ends[0], ends[1])
        }

        /// Writes all of it, or as much as the child takes before it ends.
        func write(_ bytes: [UInt8]) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(ownEnd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard count > 0 else { if errno == EINTR { continue } else { return } }
                rest = rest.dropFirst(count)
            }
        }

        /// Reads to the end on a thread of its own. A dispatch source would miss what comes for a descriptor whose
        /// number another source has just let go of.
        func read(into collected: Collected) {
            let descriptor = ownEnd
            Thread.detachNewThread {
                var piece = [UInt8](repeating: 0, count: 65_536)
                while true {
                    let count = Glibc.read(descriptor, &piece, piece.count)
                    if count > 0 {
                        collected.append(Data(piece[..<count]))
                    } else if count == 0 || errno != EINTR {
                        break
                    }
                }
                close(descriptor)
                collected.finish()
            }
        }
    }

    /// Waits for its end; one that does not end in time is killed.
    package func ended(within seconds: Double = 180) async throws -> Int32 {
        let watchdog = Task { [self] in
            try await Task.sleep(for: .seconds(seconds))
            signal(SIGKILL)
        }
        defer { watchdog.cancel() }
        var status: Int32 = -1
        for await value in exit { status = value }
        await output.finished()
        await errors.finished()
        CommandRecord.add(url, arguments, status, output: output.data, errors: errors.data)
        return status
    }

    /// Asks it to end and waits until it has.
    @discardableResult
    package func stop(_ number: Int32 = SIGTERM) async throws -> Int32 {
        signal(number)
        return try await ended()
    }
}

/// The programs that a test has started, so that none goes on when it has failed half-way.
package final class StartedPrograms: Sendable {
    @TaskLocal package static var here: StartedPrograms?

    private let programs = Mutex<[RunningProgram]>([])

    package init() {}

    package func add(_ program: RunningProgram) { programs.withLock { $0.append(program) } }
    package func endAll() { for program in programs.withLock({ $0 }) { program.signal(SIGKILL) } }
}

/// What acceptance tests share.
package enum Acceptance {
    /// Runs `body`, but no longer than so many seconds.
    package static func within<Value: Sendable>(
        _ seconds: Double, _ what: String, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(operation: body)
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                throw Unexpected("\(what) did not come in \(seconds) s")
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}
