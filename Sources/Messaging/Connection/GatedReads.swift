import CReadHook
import Cryptography

/// Has what the library reads from its connection pass a ``PacketGate``, and collects the acknowledgements that it
/// writes meanwhile: each would become a TLS record of its own. Used on one thread only.
final class GatedReads {
    private var gate: PacketGate
    private var tls: UnsafeMutableRawPointer?
    /// What was written and is not in the connection's buffer yet.
    private var collected: [UInt8] = []
    /// So many acknowledgements are a hundred. They fit into an empty ``TLSBuffer``, whatever TLS adds.
    private static let mostCollected = 400
    private var collects = false

    /// - Parameters:
    ///   - payloadLimit: the largest payload that the library always gets, in bytes.
    ///   - withholds: which messages of QoS 1 it does not get.
    init(payloadLimit: Int, withholds: PacketGate.Withholding?) {
        gate = PacketGate(payloadLimit: payloadLimit, withholds: withholds)
    }

    /// The length of the payload that the library did not get, of the message that it has read last.
    var discarded: Int? { gate.discarded }

    /// Whether the connection was refused for messages of QoS 2 that the broker does not release.
    var hasUnreleased: Bool { gate.hasUnreleased }

    /// How many packets were read since the last call that the library answers.
    func takeAnswered() -> Int { gate.takeAnswered() }

    /// Calls the library, which reads.
    ///
    /// - Parameters:
    ///   - tls: the connection's `SSL *`, whose handshake is over; `nil` without TLS.
    ///   - collects: whether what it writes may be collected: not while TLS has a part of a packet that the library
    ///     has to write again.
    func pass(socket: Int32, tls: UnsafeMutableRawPointer?, collects: Bool, _ body: () -> Int32) -> Int32 {
        (self.tls, self.collects) = (tls, collects)
        let this = Unmanaged.passUnretained(self).toOpaque()
        var hook = latchkey_read_hook(
            socket: socket, tls: tls,
            reader: { context, buffer, count in
                guard let context, let buffer else { return -1 }
                let reads = Unmanaged<GatedReads>.fromOpaque(context).takeUnretainedValue()
                return reads.gate.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count)) {
                    latchkey_read_beneath($0.baseAddress, $0.count)
                }
            },
            writer: { context, bytes, count in
                guard let context, let bytes else { return -1 }
                return Unmanaged<GatedReads>.fromOpaque(context).takeUnretainedValue()
                    .collect(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            }, context: this)
        return withUnsafePointer(to: &hook) { hook in
            latchkey_hook_reads(hook)
            defer { latchkey_hook_reads(nil) }
            return body()
        }
    }

    /// Takes what the library writes, unless there may be no room for it later: then it is written unchanged.
    private func collect(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        if collected.count + bytes.count > Self.mostCollected, !collected.isEmpty {
            // Beneath: the hook is active, and would have it collected again.
            _ = latchkey_write_beneath(collected, Int32(collected.count))
            collected.removeAll(keepingCapacity: true)
        }
        guard let tls, bytes.count <= Self.mostCollected,
            !collected.isEmpty || collects && TLSBuffer(tls).isEmpty
        else { return latchkey_write_beneath(bytes.baseAddress, Int32(bytes.count)) }
        collected += bytes
        return Int32(bytes.count)
    }

    /// Writes what was collected, to be called before anything else is written.
    func writeCollected() {
        guard !collected.isEmpty else { return }
        if let tls { TLSBuffer(tls).write(collected) }
        collected.removeAll(keepingCapacity: true)
    }
}
