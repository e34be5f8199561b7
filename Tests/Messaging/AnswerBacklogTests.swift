import Testing

@testable import Messaging

@Suite("Answers that a broker does not take", .timeLimit(.minutes(5)))
struct AnswerBacklogTests {
    /// Sends what the client answers until that is not taken any more, then takes all answers.
    ///
    /// With a receive buffer of a few kilobytes, the kernel's timers would decide how fast answers of four bytes come.
    private static func script(flood: String) -> String {
        """
        import select
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 256 << 10)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        client = accept()
        subscribed(client, 0)
        client.setblocking(False)
        packet = \(flood)
        piece = packet * (4000 // len(packet))
        sent, received, wanted, silent = 0, 0, 24 << 20, 0
        def send():
            global sent
            try:
                sent += client.send(piece[sent % len(piece):])
                return True
            except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
                return False
        while sent < wanted and (send() or select.select([], [client], [], 3)[1]): pass
        print("sent", "everything" if sent >= wanted else "a part")
        while sent % len(piece) or received < sent // len(packet) * 4:
            if sent % len(piece): send()
            try:
                found = client.recv(1 << 20)
                if not found: raise EOFError
                received += len(found)
                silent = 0
            except (BlockingIOError, ssl.SSLWantReadError): silent += not select.select([client], [], [], 1)[0]
            if silent == 60: sys.exit(f"answered {received} bytes of {sent // len(packet) * 4} for {sent}")
        print("answered everything")
        """
    }

    @Test(
        "a broker that sends what has to be answered and reads nothing is not read any more, until it reads",
        arguments: ["publish(7, b'')", "bytes([0x50, 2, 0, 7])"], [false, true])
    func flood(packet: String, isSecure: Bool) async throws {
        let broker = try await ScriptedBroker(isSecure: isSecure, Self.script(flood: packet))
        // The script does not answer pings.
        let station = try await Station(
            at: broker.address, adjust: { $0.keepAlive = .seconds(600) }, credentials: broker.credentials)
        #expect(await broker.program.firstLine(containing: "sent") == "sent a part")
        #expect(await broker.program.firstLine(containing: "answered") == "answered everything")
        try await station.stop()
    }

    @Test("answers that can be written at once are not counted")
    func counting() {
        var backlog = AnswerBacklog()
        for _ in 0..<3 {
            backlog.add(AnswerBacklog.most - 1)
            #expect(!backlog.isFull)
            backlog.update(isWriting: false)
        }
        backlog.add(AnswerBacklog.most - 1)
        backlog.update(isWriting: true)
        backlog.add(1)
        #expect(backlog.isFull)
        backlog.update(isWriting: false)
        #expect(!backlog.isFull)
    }
}
