import Foundation
import TestSupport

/// A program that runs beside a test, its standard output and error read line by line; killed with its last reference.
final class Program: Sendable {
    private let process = Process()
    let lines: AsyncStream<String>

    init(_ path: String, _ arguments: [String]) throws {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        let pipe = try PrivatePipe()
        // Without a terminal the C library would keep lines back.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/stdbuf")
        process.arguments = ["-oL", "-eL", path] + arguments
        process.environment = TestRun.environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe.writing
        process.standardError = pipe.writing
        let output = pipe.reading
        // Not a handler of the file handle's: libdispatch crashes where the number of a descriptor soon has another
        // owner.
        Thread.detachNewThread {
            var rest = Data()
            while case let read = output.nextPiece(), !read.isEmpty {
                rest += read
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                    rest = Data(rest[rest.index(after: end)...])
                }
            }
            continuation.finish()
        }
        try Self.withSignalsUnblocked { try process.run() }
        try pipe.writing.close()
    }

    /// Threads of the cooperative pool block all signals, and a program inherits that from the thread that starts it.
    private static func withSignalsUnblocked(_ body: () throws -> Void) rethrows {
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try body()
    }

    /// Not by SIGTERM: mosquitto_sub disconnects in its handler, and waits forever if it was disconnecting already.
    deinit {
        guard process.isRunning else { return }
        kill()
    }

    /// Ends it as an operator would (SIGTERM), so that it can write its state.
    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// Ends it as a power cut would (SIGKILL).
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Stops it where it is (SIGSTOP), so that its connections go dead without ending.
    func freeze() { Foundation.kill(process.processIdentifier, SIGSTOP) }
    func thaw() { Foundation.kill(process.processIdentifier, SIGCONT) }

    func firstLine(containing text: String) async -> String? {
        for await line in lines where line.contains(text) { return line }
        return nil
    }
}
