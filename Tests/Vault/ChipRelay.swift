import Foundation
import Synchronization
import TestSupport

@testable import Vault

/// Stands on the wire between this program and a software TPM, as somebody with a probe on the chip's bus: keeps all that
/// passes, and can change or end it.
final class ChipRelay: Sendable {
    /// What happens to an answer of the chip.
    typealias Interference = @Sendable (_ number: Int, _ answer: [UInt8]) -> [UInt8]?

    let port: Int
    private let passed = Mutex<[[UInt8]]>([])
    private let answers = Atomic(0)
    private let interference: Interference

    var chip: Chip { Chip(at: SoftwareTPM.place(port)) }
    /// Commands and answers, in their order.
    var messages: [[UInt8]] { passed.withLock { $0 } }

    /// - Parameter interference: gets each answer with its number, from 0; returns what is passed on, or `nil` to end the
    ///   connection.
    init(to chip: SoftwareTPM, _ interference: @escaping Interference = { $1 }) throws {
        port = try UnusedPort.reservePair()
        self.interference = interference
        for offset in [0, 1] {
            let listener = try Connection.listen(on: port + offset)
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
        let server = Connection.open(to: target)
        guard server >= 0 else { return }
        defer { close(server) }
        while true {
            guard let command = message(from: client, isChip), send(command, to: server),
                let answer = message(from: server, isChip)
            else { return }
            guard isChip else {
                guard send(answer, to: client) else { return }
                continue
            }
            let number = answers.add(1, ordering: .relaxed).oldValue
            guard let changed = interference(number, answer) else { return }
            passed.withLock { $0 += [command, changed] }
            guard send(changed, to: client) else { return }
        }
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
            guard bytes.count >= 6 else { continue }
            let length = bytes[2..<6].reduce(0) { $0 << 8 | Int($1) }
            if bytes.count >= length { return bytes }
        }
    }

    private func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }
}
