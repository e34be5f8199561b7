import Glibc

extension ConnectionLoop {
    /// - Returns: what the socket is ready for; 0 after a wake-up.
    func wait(for socket: Int32, events: Int32, until deadline: ContinuousClock.Instant) throws(Stop) -> Int32 {
        let ready = try poll(socket, events: events, timeout: deadline - .now)
        for command in connection.takeCommands() {
            if case .close(let announcing) = command { throw .closeRequested(announcing: announcing) }
        }
        return ready
    }

    func poll(_ socket: Int32, events: Int32, timeout: Duration) throws(Stop) -> Int32 {
        var descriptors = [
            pollfd(fd: socket, events: Int16(events), revents: 0),
            pollfd(fd: connection.wake, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = max(0, timeout / .milliseconds(1)).rounded(.up)
        guard Glibc.poll(&descriptors, 2, Int32(min(milliseconds, 1e9))) >= 0 || errno == EINTR else {
            throw .failed(.connectionLost(order.address, reason: String(cString: strerror(errno))))
        }
        if descriptors[1].revents != 0 {
            var count: UInt64 = 0
            _ = Glibc.read(connection.wake, &count, 8)
        }
        return Int32(descriptors[0].revents)
    }
}
