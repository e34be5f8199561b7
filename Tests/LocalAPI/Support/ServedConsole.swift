import Groundwork
import TestSupport

@testable import LocalAPI

/// A console with routes of each right, and its page.
final class ServedConsole: Sendable {
    let server: ConsoleServer
    let events = Broadcast<LocalEvent>()
    private let policy: AccessPolicy
    private let router: Router

    /// - Parameter policy: unless given, user 7 may read, user 0 everything.
    init(idle: Duration = .seconds(900)) {
        server = ConsoleServer(port: 0, idle: idle)
        policy = AccessPolicy(owners: [0], grants: [.read: .init(users: [7])])
        var router = Router()
        for (path, right) in [("/v1/read", Permission.read), ("/v1/operate", .operate)] {
            for method in ["GET", "POST"] {
                router.on(method, path, needs: right, .init("Who asks", answer: .openObject(""))) { request in
                    .json(["uid": .integer(Int64(request.peer.uid)), "owner": .bool(request.isOwner)])
                }
            }
        }
        let events = events
        router.on("GET", "/v1/events", needs: .read, .init("Events", events: ["n": .integer("")])) { _ in
            .events(events.subscribe())
        }
        self.router = router
    }

    func offer(to uid: UInt32 = 0) async throws -> (port: UInt16, token: String) {
        let offer = try await server.offer(
            to: Peer(uid: uid, pid: 1, groups: []), by: policy, router: router,
            files: [ConsoleFile(path: "/", type: "text/html", text: "<p>page</p>")])
        return (offer.port, String(offer.address.split(separator: "#").last ?? ""))
    }

    /// One request on a connection of its own.
    static func ask(
        _ port: UInt16, _ method: String, _ target: String, host: String? = nil, origin: String? = "same",
        headers: [String] = [], body: String? = nil
    ) async throws -> RawResponse {
        let client = try RawClient(port: port)
        try await client.write(
            request(
                port, method, target, host: host, origin: origin, headers: headers + ["Connection: close"], body: body))
        return RawResponse(try await client.rest())
    }

    /// - Parameter origin: `same`: the console's own.
    static func request(
        _ port: UInt16, _ method: String, _ target: String, host: String? = nil, origin: String? = "same",
        headers: [String] = [], body: String? = nil
    ) -> String {
        let own = "127.0.0.1:\(port)"
        let origin = origin.map { ["Origin: \($0 == "same" ? "http://\(own)" : $0)"] } ?? []
        let length = body.map { ["Content-Length: \($0.utf8.count)"] } ?? []
        return (["\(method) \(target) HTTP/1.1", "Host: \(host ?? own)"] + origin + headers + length + ["", ""])
            .joined(separator: "\r\n") + (body ?? "")
    }

    /// Opens a session with a token, as the page does.
    ///
    /// - Returns: the headers that its requests have.
    static func open(_ port: UInt16, _ token: String) async throws -> [String] {
        let answer = try await ask(port, "POST", "/session", body: #"{"token":"\#(token)"}"#)
        guard answer.status == 200, let cookie = answer.headers["set-cookie"]?.split(separator: ";").first,
            let key = answer.json?["key"]?.string
        else { throw Refusal.teapot }
        return ["Cookie: other=1; \(cookie)", "X-Latchkey-Console: \(key)"]
    }
}
