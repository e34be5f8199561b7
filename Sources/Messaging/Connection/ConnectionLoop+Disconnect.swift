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
        client.disconnect()
        while client.socket >= 0, client.wantsToWrite, ContinuousClock.now < deadline {
            guard let ready = try? poll(client.socket, events: POLLOUT, timeout: deadline - .now),
                ready & POLLOUT != 0, client.write() == nil
            else { return }
        }
    }
}
