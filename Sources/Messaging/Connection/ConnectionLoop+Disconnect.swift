import Cryptography
import Glibc

/// The orderly end of a connection.
extension ConnectionLoop {
    /// Publishes `offline` where presence is announced, and disconnects so that the broker does not publish the will.
    /// Takes at most a second.
    func disconnect(_ client: MosquittoClient, announcing: Bool) {
        if announcing, let topic = order.presenceTopic {
            _ = client.publish(topic, ConnectionOrder.offline, .atLeastOnce, retain: order.retainsPresence)
        }
        let deadline = ContinuousClock.now + .seconds(1)
        while let buffer = client.buffer, buffer.hasUnsent, ContinuousClock.now < deadline {
            buffer.flush()
            guard buffer.hasUnsent else { break }
            guard let ready = try? poll(client.socket, events: POLLOUT, timeout: deadline - .now),
                ready & (POLLERR | POLLHUP) == 0
            else { return }
        }
        // Holds the connection when the library closes its socket.
        let held = fcntl(client.socket, F_DUPFD_CLOEXEC, 0)
        guard held >= 0 else { return client.disconnect() }
        defer { close(held) }
        client.disconnect()
        while client.socket >= 0, client.wantsToWrite, ContinuousClock.now < deadline {
            guard let ready = try? poll(client.socket, events: POLLOUT, timeout: deadline - .now),
                ready & POLLOUT != 0, client.write() == nil
            else { return }
        }
        linger(on: held, until: deadline)
    }

    /// Waits until the broker closes too, and discards what still comes. Closing with bytes unread, such as the
    /// acknowledgement of `offline`, would reset the connection (RFC 2525 section 2.17): the reset may overtake
    /// DISCONNECT, and the broker would publish the will as well. What was not acknowledged comes again.
    private func linger(on socket: Int32, until deadline: ContinuousClock.Instant) {
        shutdown(socket, Int32(SHUT_WR))
        var piece = [UInt8](repeating: 0, count: 16_384)
        while ContinuousClock.now < deadline, (try? poll(socket, events: POLLIN, timeout: deadline - .now)) != nil {
            let count = recv(socket, &piece, piece.count, Int32(MSG_DONTWAIT))
            guard count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR) else { return }
        }
    }
}
