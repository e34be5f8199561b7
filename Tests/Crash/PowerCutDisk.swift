import Foundation
import Glibc
import TestSupport
import Testing

/// A file system whose power can be cut (`powercut.py`), mounted over a folder.
///
/// Not `Sendable`, and its orders wait for their answer: a few milliseconds.
final class PowerCutDisk {
    let path: String
    private let process: pid_t
    private let orders: FileHandle
    private let answers: UnsafeMutablePointer<FILE>

    /// Why there can be none; `nil` where there can.
    static let obstacle: Comment? =
        geteuid() != 0 ? "only root may mount" : access("/dev/fuse", R_OK | W_OK) != 0 ? "there is no /dev/fuse" : nil

    /// - Parameter path: a folder that exists.
    init(at path: String) throws {
        self.path = path
        let (toChild, toParent) = (try PrivatePipe(), try PrivatePipe())
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "powercut.py").path
        process = try ChildProcess.spawn(
            ["/usr/bin/env", "python3", script],
            variables: ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" },
            streams: [toChild.reading.fileDescriptor, toParent.writing.fileDescriptor, STDERR_FILENO])
        orders = toChild.writing
        answers = fdopen(fcntl(toParent.reading.fileDescriptor, F_DUPFD_CLOEXEC, 0), "r")
        try toChild.reading.close()
        try toParent.writing.close()
        try order("mount \(path)")
    }

    /// Unmounts it and forgets everything.
    func end() {
        try? orders.close()
        _ = ChildProcess.waitForExit(of: process)
        fclose(answers)
    }

    /// The power goes with so many changes from now on.
    func cut(after changes: Int) throws { try order("cut \(changes)") }
    /// Files together take no more than so many bytes; 0 is any number.
    func limit(_ bytes: Int) throws { try order("limit \(bytes)") }
    /// - Returns: what has survived, in words.
    @discardableResult
    func restart(seed: UInt64) throws -> String { try order("restart \(seed)") }
    var isOn: Bool { get throws { try order("state").hasPrefix("ok on") } }

    @discardableResult
    private func order(_ text: String) throws -> String {
        let line = Array("\(text)\n".utf8)
        guard write(orders.fileDescriptor, line, line.count) == line.count else {
            throw Unexpected("powercut.py has ended")
        }
        var buffer = [CChar](repeating: 0, count: 512)
        guard fgets(&buffer, Int32(buffer.count), answers) != nil else {
            throw Unexpected("powercut.py said nothing to \(text)")
        }
        let answer = String(decoding: buffer.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard answer.hasPrefix("ok") else { throw Unexpected("powercut.py: \(answer)") }
        return answer
    }
}

/// Gives `body` such a disk in a folder that is gone afterwards.
func withPowerCutDisk(_ body: (PowerCutDisk, _ folder: String) async throws -> Void) async throws {
    let folder = "/tmp/lk-\(UInt32.random(in: .min ... .max))"
    try FileManager.default.createDirectory(atPath: folder + "/disk", withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let disk = try PowerCutDisk(at: folder + "/disk")
    defer { disk.end() }
    try await body(disk, folder)
}
