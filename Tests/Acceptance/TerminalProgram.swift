import Foundation
import Glibc
import TestSupport

/// A program on a terminal of its own, as a person sees it: what it prints and what the terminal echoes is the screen.
final class TerminalProgram: Sendable {
    let screen = Collected()
    private let keyboard: Int32
    let processIdentifier: pid_t
    private let exit: AsyncStream<Int32>

    /// `POSIX_SPAWN_SETSID` of <spawn.h>, which the module map leaves out.
    private static let setsid: Int32 = 0x80

    /// `TIOCSPTLCK` and `TIOCGPTN` of <asm-generic/ioctls.h>.
    private static let (setLock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

    /// - Parameter columns: width of the terminal.
    init(_ url: URL, _ arguments: [String], environment: [String: String] = [:], columns: UInt16 = 80) throws {
        // No other child, which may start at any moment, holds the terminal open.
        let own = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (number, isLocked): (UInt32, Int32) = (0, 0)
        guard own >= 0, ioctl(own, Self.setLock, &isLocked) == 0, ioctl(own, Self.getNumber, &number) == 0 else {
            throw Unexpected("no terminal: \(String(cString: strerror(errno)))")
        }
        let name = "/dev/pts/\(number)"
        let other = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard other >= 0, ioctl(own, UInt(TIOCSWINSZ), &size) == 0 else {
            throw Unexpected("no terminal: \(String(cString: strerror(errno)))")
        }
        keyboard = own

        let variables = ProcessInfo.processInfo.environment.merging(["TERM": "xterm"]) { _, new in new }
            .merging(environment) { _, new in new }.map { "\($0.key)=\($0.value)" }
        let process = try ChildProcess.spawn([url.path] + arguments, variables: variables, flags: Self.setsid) {
            // The leader of a new session gets the first terminal that it opens as its own, and with it Ctrl-C.
            posix_spawn_file_actions_addopen(&$0, 0, name, O_RDWR, 0)
            posix_spawn_file_actions_adddup2(&$0, 0, 1)
            posix_spawn_file_actions_adddup2(&$0, 0, 2)
        }
        processIdentifier = process
        // Held until now: a terminal that nobody has open is hung up.
        close(other)

        let (screen, child, master) = (screen, process, own)
        Thread.detachNewThread {
            var piece = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(master, &piece, piece.count)
                if count > 0 { screen.append(Data(piece[..<count])) } else if count == 0 || errno != EINTR { break }
            }
            screen.finish()
        }
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        exit = stream
        Thread.detachNewThread {
            continuation.yield(ChildProcess.waitForExit(of: child))
            continuation.finish()
        }
    }

    deinit { close(keyboard) }

    static let control = (c: "\u{03}", d: "\u{04}")

    func type(_ text: String) { _ = text.withCString { write(keyboard, $0, strlen($0)) } }

    /// Waits until the screen shows `text`.
    func shows(_ text: String, within seconds: Double = 180) async throws {
        try await screen.wait(for: text, within: seconds)
    }

    func ended(within seconds: Double = 180) async throws -> Int32 {
        let watchdog = Task { [processIdentifier] in
            try await Task.sleep(for: .seconds(seconds))
            kill(processIdentifier, SIGKILL)
        }
        defer { watchdog.cancel() }
        var status: Int32 = -1
        for await value in exit { status = value }
        await screen.finished()
        return status
    }
}
