import CReadHook

/// Has what the library reads from its connection pass a ``PacketGate``. Used on one thread only.
final class GatedReads {
    private var gate: PacketGate

    /// - Parameters:
    ///   - payloadLimit: the largest payload that the library always gets, in bytes.
    ///   - withholds: which messages of QoS 1 it does not get.
    init(payloadLimit: Int, withholds: PacketGate.Withholding?) {
        gate = PacketGate(payloadLimit: payloadLimit, withholds: withholds)
    }

    /// The length of the payload that the library did not get, of the message that it has read last.
    var discarded: Int? { gate.discarded }

    /// Calls the library, which reads.
    ///
    /// - Parameter tls: the connection's `SSL *`, whose handshake is over; `nil` without TLS.
    func pass(socket: Int32, tls: UnsafeMutableRawPointer?, _ body: () -> Int32) -> Int32 {
        let this = Unmanaged.passUnretained(self).toOpaque()
        var hook = latchkey_read_hook(
            socket: socket, tls: tls,
            reader: { context, buffer, count in
                guard let context, let buffer else { return -1 }
                let reads = Unmanaged<GatedReads>.fromOpaque(context).takeUnretainedValue()
                return reads.gate.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count)) {
                    latchkey_read_beneath($0.baseAddress, $0.count)
                }
            }, context: this)
        return withUnsafePointer(to: &hook) { hook in
            latchkey_hook_reads(hook)
            defer { latchkey_hook_reads(nil) }
            return body()
        }
    }
}
