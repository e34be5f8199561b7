import CMosquitto
import Cryptography
import Glibc

/// The orderly end of a connection.
extension ConnectionLoop {
    /// Publishes `offline` where presence is announced, and disconnects so that the broker does not publish the will.
    /// Takes at most a second.
    func disconnect(_ client: MosquittoClient, announcing: Bool) {
        if announcing, let topic = order.presenceTopic {
            _ = mosquitto_publish(
                client.handle, nil, topic.name, Int32(ConnectionOrder.offline.count), ConnectionOrder.offline, 1, true)
        }
        let deadline = ContinuousClock.now + .seconds(1)
        while let buffer = client.buffer, buffer.hasUnsent, ContinuousClock.now < deadline {
            buffer.flush()
            guard buffer.hasUnsent else { break }
            guard let ready = try? poll(mosquitto_socket(client.handle), events: POLLOUT, timeout: deadline - .now),
                ready & (POLLERR | POLLHUP) == 0
            else { return }
        }
        // Writes immediately; closing TLS flushes the rest.
        _ = mosquitto_disconnect(client.handle)
        while mosquitto_socket(client.handle) >= 0, mosquitto_want_write(client.handle), ContinuousClock.now < deadline
        {
            guard let ready = try? poll(mosquitto_socket(client.handle), events: POLLOUT, timeout: deadline - .now),
                ready & POLLOUT != 0, mosquitto_loop_write(client.handle, 1) == MOSQ_ERR_SUCCESS.code
            else { return }
        }
    }
}
