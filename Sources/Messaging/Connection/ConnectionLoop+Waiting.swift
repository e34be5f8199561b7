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
        guard let relay else { return try pollOnce(socket, events: events, timeout: timeout, and: []).ready }
        let deadline = ContinuousClock.now + timeout
        while true {
            relay.work()
            let left = relay.isUnfinished ? .zero : deadline - .now
            let found = try pollOnce(socket, events: events, timeout: left, and: relay.descriptors)
            guard found.ready == 0, !found.isWoken, .now < deadline else { return found.ready }
        }
    }

    private func pollOnce(
        _ socket: Int32, events: Int32, timeout: Duration, and others: [pollfd]
    ) throws(Stop) -> (ready: Int32, isWoken: Bool) {
        var descriptors =
            [
                pollfd(fd: socket, events: Int16(events), revents: 0),
                pollfd(fd: connection.wake, events: Int16(POLLIN), revents: 0),
            ] + others
        let milliseconds = max(0, timeout / .milliseconds(1)).rounded(.up)
        guard Glibc.poll(&descriptors, nfds_t(descriptors.count), Int32(min(milliseconds, 1e9))) >= 0 || errno == EINTR
        else { throw .failed(.connectionLost(order.address, reason: String(cString: strerror(errno)))) }
        let isWoken = descriptors[1].revents != 0
        if isWoken {
            var count: UInt64 = 0
            _ = Glibc.read(connection.wake, &count, 8)
        }
        return (Int32(descriptors[0].revents), isWoken)
    }
}
