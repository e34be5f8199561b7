import Foundation
import Glibc
import TestSupport

/// A clock for one program alone, by a preloaded library: its wall clock can be set at any time, and the clocks that
/// nobody sets may run faster.
final class BoardClock {
    private let library: URL
    private let file: URL
    private let pace: Int

    /// - Parameters:
    ///   - folder: where the library and the clock's file are made.
    ///   - pace: how many seconds pass in one, by the clocks that nobody sets.
    init(in folder: URL, pace: Int = 1) async throws {
        library = folder.appending(path: "clock.so")
        file = folder.appending(path: "clock")
        self.pace = pace
        let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Clock/clock.c")
        let compiled = try await Program(url: URL(filePath: "/usr/bin/cc"))
            .run(["-O2", "-shared", "-fPIC", "-o", library.path, source.path])
        guard compiled.status == 0 else { throw Unexpected("the clock does not compile: \(compiled.errors)") }
        try put(0, creating: true)
    }

    var environment: [String: String] {
        ["LD_PRELOAD": library.path, "LATCHKEY_CLOCK": file.path, "LATCHKEY_CLOCK_PACE": "\(pace)"]
    }

    /// Sets the wall clock so many seconds away from the true time.
    func set(_ seconds: Int) throws { try put(seconds, creating: false) }

    /// Sets the wall clock to the beginning of 1970, as on a board without a battery.
    func setToBeginning() throws { try set(-Int(Date().timeIntervalSince1970)) }

    private func put(_ seconds: Int, creating: Bool) throws {
        // Written in place: the program has the file mapped.
        let descriptor = open(file.path, O_WRONLY | O_CLOEXEC | (creating ? O_CREAT : 0), 0o600)
        guard descriptor >= 0 else { throw Unexpected.system("open \(file.path)") }
        defer { close(descriptor) }
        var value = Int64(seconds)
        guard pwrite(descriptor, &value, MemoryLayout<Int64>.size, 0) == MemoryLayout<Int64>.size else {
            throw Unexpected.system("write \(file.path)")
        }
    }
}
