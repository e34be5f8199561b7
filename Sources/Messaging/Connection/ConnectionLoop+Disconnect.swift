import Cryptography
import Glibc

/// The orderly end of a connection.
extension ConnectionLoop {
    /// Publishes `offline` where presence is announced, and disconnects so that the broker does not publish the will.
    /// Takes at most a second.
    func disconnect(_ client: MosquittoClient, announcing: Bool) {
        if announcing, let topic = order.presenceTopic {
            _ = client.publish(topic, ConnectionOrder.offline, .atLeastOnce, retain: true)
        }
        let deadline = ContinuousClock.now + .seconds(1)
        while let buffer = client.buffer, buffer.hasUnsent, ContinuousClock.now < deadline {
            buffer.flush()
            guard buffer.hasUnsent else { break }
            guard let ready = try? poll(client.socket, events: POLLOUT, timeout: deadline - .now),
                ready & (POLLERR | POLLHUP) == 0
            else { return }
        }
        discardUnread(client.socket, until: deadline)
        client.disconnect()
        while client.socket >= 0, client.wantsToWrite, ContinuousClock.now < deadline {
            guard let ready = try? poll(client.socket, events: POLLOUT, timeout: deadline - .now),
                ready & POLLOUT != 0, client.write() == nil
            else { return }
        }
    }

    /// Closing with bytes unread, such as the acknowledgement of `offline`, resets the connection (RFC 2525 section
    /// 2.17). The reset may overtake DISCONNECT, and the broker would publish the will as well. What was not
    /// acknowledged comes again.
    private func discardUnread(_ socket: Int32, until deadline: ContinuousClock.Instant) {
        var piece = [UInt8](repeating: 0, count: 16_384)
        while ContinuousClock.now < deadline, recv(socket, &piece, piece.count, Int32(MSG_DONTWAIT)) > 0 {}
    }
}
