import Foundation
import Synchronization
import TestSupport

@testable import Vault

/// Stands on the wire between this program and a software TPM, as somebody with a probe on the chip's bus: keeps all
/// that passes, and can change or end it.
final class ChipRelay: Sendable {
    /// What happens to a command.
    enum Reaction: Sendable {
        case pass
        /// The chip does not get it.
        case answer([UInt8])
        /// The answer is another one. If it is shorter than a header, or than its header says, the connection ends.
        case change(@Sendable ([UInt8]) -> [UInt8])
        /// The connection ends.
        case end
    }

    /// Gets each command with its number, from 0.
    typealias Interference = @Sendable (_ number: Int, _ command: [UInt8]) -> Reaction

    /// An answer without content, which has the code.
    static func refusal(_ code: UInt32) -> [UInt8] {
        [0x80, 0x01, 0, 0, 0, 10] + withUnsafeBytes(of: code.bigEndian, Array.init)
    }

    /// The number of a command in its header.
    static func code(of command: [UInt8]) -> Int { command[6..<10].reduce(0) { $0 << 8 | Int($1) } }

    let port: Int
    private let passed = Mutex<[[UInt8]]>([])
    private let commands = Atomic(0)
    private let interference: Interference

    var chip: Chip { Chip(at: SoftwareTPM.place(port)) }
    /// Commands and answers, in turn.
    var messages: [[UInt8]] { passed.withLock { $0 } }

    init(to chip: SoftwareTPM, _ interference: @escaping Interference = { _, _ in .pass }) throws {
        port = try UnusedPort.reservePair()
        self.interference = interference
        for offset in [0, 1] {
            let listener = try LocalPort.listen(on: port + offset)
            let target = chip.port + offset
            Thread.detachNewThread { [weak self] in
                while true {
                    let client = accept(listener, nil, nil)
                    guard client >= 0, let self else { break }
                    self.serve(client, target, isChip: offset == 0)
                    close(client)
                }
                close(listener)
            }
            listeners.withLock { $0.append(listener) }
        }
    }

    private let listeners = Mutex<[Int32]>([])

    deinit { for listener in listeners.withLock({ $0 }) { shutdown(listener, Int32(SHUT_RDWR)) } }

    private func serve(_ client: Int32, _ target: Int, isChip: Bool) {
        let server = LocalPort.open(to: target)
        guard server >= 0 else { return }
        defer { close(server) }
        while let command = message(from: client, isChip) {
            guard isChip else {
                guard send(command, to: server), let answer = message(from: server, false), send(answer, to: client)
                else { return }
                continue
            }
            guard let answer = answer(to: command, of: server) else { return }
            passed.withLock { $0 += [command, answer] }
            guard send(answer, to: client), answer.count >= Self.length(of: answer) else { return }
        }
    }

    private func answer(to command: [UInt8], of server: Int32) -> [UInt8]? {
        let reaction = interference(commands.add(1, ordering: .relaxed).oldValue, command)
        if case .end = reaction { return nil }
        if case .answer(let answer) = reaction { return answer }
        guard send(command, to: server), let answer = message(from: server, true) else { return nil }
        if case .change(let change) = reaction { return change(answer) }
        return answer
    }

    private static func length(of message: [UInt8]) -> Int {
        message.count < 10 ? 10 : message[2..<6].reduce(0) { $0 << 8 | Int($1) }
    }

    /// A command or an answer, whose length is in its header (TPM 2.0 part 1, 18); or whatever there is at once.
    private func message(from descriptor: Int32, _ isChip: Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 8192)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer.prefix(count)
            guard isChip else { return bytes }
            if bytes.count >= Self.length(of: bytes) { return bytes }
        }
    }

    private func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }
}
