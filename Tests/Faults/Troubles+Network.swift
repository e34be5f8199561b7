import Foundation
import GatewayLab
import TestSupport

/// The network and the servers.
extension Trouble {
    /// Short, so that a connection that leads nowhere is noticed within the test.
    private static let shortKeepAlive = "[broker]\nkeep_alive_seconds = 5"

    /// Broker and gateway lose their connections, and no new one is answered.
    private static func unanswered(_ name: String, _ manner: Passage.Manner) -> Trouble {
        Trouble(name: name) { scene in
            for passage in [scene.broker, scene.gateway] {
                passage.cut()
                try passage.become(manner)
            }
        } seen: { scene in
            try await scene.disconnected(because: "messaging.connect-timeout")
            try await scene.doctorFails("gateway")
        } end: { scene in
            try scene.gateway.become(.open)
            try scene.broker.become(.open)
        }
    }

    static let network: [Trouble] = [
        Trouble(name: "the broker is down") { scene in
            try scene.broker.become(.refusing)
        } seen: { scene in
            try await scene.disconnected(because: "messaging.cannot-connect")
            try await scene.doctorFails("broker")
            // The gateway lives.
            guard try await scene.call().status == 0 else { throw Unexpected("the gateway was not reached") }
        } end: { scene in
            try scene.broker.become(.open)
        },
        Trouble(name: "the gateway is down") { scene in
            try scene.gateway.become(.refusing)
        } seen: { scene in
            let call = try await scene.call()
            guard call.status == 75, call.code == "gateway.no-answer" else {
                throw Unexpected("the call ended with \(call)")
            }
            try await scene.says("gateway.no-answer")
            try await scene.doctorFails("gateway")
            // The broker lives.
            try await scene.drained()
        } end: { scene in
            try scene.gateway.become(.open)
        },
        Trouble(name: "broker and gateway are down, and the token has ended") { scene in
            try scene.broker.become(.refusing)
            try scene.gateway.become(.refusing)
            try await scene.lab.revokeTokens()
        } seen: { scene in
            try await scene.disconnected(because: "messaging.cannot-connect")
            try await scene.doctorFails("broker")
            try await scene.doctorFails("gateway")
        } end: { scene in
            try scene.broker.become(.open)
            try await scene.disconnected(because: "messaging.refused", "messaging.credentials-unavailable")
            try scene.gateway.become(.open)
        },
        Trouble(name: "the connection is half open: the broker has forgotten it") { scene in
            scene.broker.forget()
        } seen: { scene in
            // What is sent is answered by a reset, so it is noticed at once.
            try await scene.drained()
        } end: { _ in
        },
        Trouble(name: "the connection is half open and idle: nothing comes any more", settings: shortKeepAlive) {
            scene in
            try scene.broker.become(.silent)
        } seen: { scene in
            try await scene.disconnected(because: "messaging.connection-lost", "messaging.connect-timeout")
        } end: { scene in
            try scene.broker.become(.open)
        },
        Trouble(name: "the connection is half open while readings are sent", settings: shortKeepAlive) { scene in
            try scene.broker.become(.silent)
        } seen: { scene in
            // Often enough that the board itself is never silent for a keep-alive time.
            let end = ContinuousClock.now + .seconds(180)
            while try LocalStatus.read(scene.board.socket).isConnected {
                guard ContinuousClock.now < end else { throw Unexpected("the dead connection was not noticed") }
                try await scene.publish(1)
                try await Task.sleep(for: .seconds(1))
            }
        } end: { scene in
            try scene.broker.become(.open)
        },
        unanswered("a black hole swallows everything", .silent),
        unanswered("broker and gateway accept connections and never answer", .mute),
        Trouble(name: "the name server has gone", place: .network) { scene in
            scene.names?.isSilent = true
            scene.broker.cut()
            scene.gateway.cut()
        } seen: { scene in
            try await scene.disconnected(because: "messaging.cannot-connect")
            try await scene.doctorFails("dns")
        } end: { scene in
            scene.names?.isSilent = false
        },
        Trouble(name: "the network has IPv6 only", place: .ipv6Network) { scene in
            scene.broker.cut()
            scene.gateway.cut()
        } seen: { scene in
            try await scene.drained()
            guard scene.names?.questions ?? 0 > 0 else { throw Unexpected("nobody asked for an address") }
        } end: { _ in
        },
    ]

    static let portals: [Trouble] = [
        Trouble(name: "a captive portal answers 200 in the gateway's name, with a certificate of its own") { scene in
            scene.lab.inject(Fault(.captivePortal))
            try await scene.lab.show(.otherAuthority)
            scene.broker.lead(to: scene.lab.port)
        } seen: { scene in
            try await scene.disconnected(because: "messaging.tls-refused")
            try await scene.doctorFails("pin")
            guard try await scene.call().code == "gateway.no-answer" else {
                throw Unexpected("the portal was believed")
            }
        } end: { scene in
            scene.lab.clearFaults()
            try await scene.lab.show(.genuine)
            scene.broker.lead(to: scene.lab.brokerPort ?? 0)
        },
        Trouble(name: "a captive portal answers 200 without TLS") { scene in
            let page = "<!DOCTYPE html><title>Welcome</title>"
            let answer =
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: \(page.utf8.count)\r\n\r\n\(page)"
            for way in [scene.gateway, scene.broker] {
                way.cut()
                try way.become(.answering(answer))
            }
        } seen: { scene in
            try await scene.disconnected(because: "messaging.tls-failed", "messaging.connection-lost")
            try await scene.doctorFails("gateway")
            guard try await scene.call().code == "gateway.no-answer" else {
                throw Unexpected("the portal was believed")
            }
        } end: { scene in
            try scene.gateway.become(.open)
            try scene.broker.become(.open)
        },
        // Such as a proxy before the gateway that has its certificate.
        Trouble(name: "something with the gateway's own certificate answers 200 and a page to everything") { scene in
            scene.lab.inject(Fault(.captivePortal))
            try await scene.lab.revokeTokens()
            scene.broker.cut()
        } seen: { scene in
            try await scene.disconnected(because: "messaging.credentials-unavailable")
            try await scene.says("gateway.token-answer-invalid")
            let renewal = try await scene.board.latchkey("renew", "--json")
            guard renewal.status != 0 else { throw Unexpected("a page was taken for a certificate") }
        } end: { scene in
            scene.lab.clearFaults()
        },
    ]
}
