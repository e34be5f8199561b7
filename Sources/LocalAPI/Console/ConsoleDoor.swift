import Groundwork
import HTTPClient
import Synchronization

/// Who sends a request.
struct RequestCaller {
    let peer: Peer
    /// The console's session; `nil` on the Unix socket, where the kernel knows the peer.
    var session: Int?
    /// Whether it asks for what everybody may have: the page itself, which holds nothing of the board.
    var isAnonymous = false
}

/// What stands between the console's listener and the routes: the gate, and the sessions.
final class ConsoleDoor: Sendable {
    let gate: ConsoleGate
    private let files: Set<String>
    private let table: Mutex<ConsoleTable>

    init(port: UInt16, files: [ConsoleFile], idle: Duration) {
        gate = ConsoleGate(port: port)
        self.files = Set(files.map(\.path))
        table = Mutex(ConsoleTable(idle: idle))
    }

    func change<Result: Sendable, Failure: Error>(
        _ body: (inout ConsoleTable) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try table.withLock { table throws(Failure) in try body(&table) }
    }

    /// - Throws: ``LocalAPIError/consoleRequestForeign(reason:)``, ``LocalAPIError/consoleSessionMissing``
    func caller(of head: RequestHead, at path: String) throws(LocalAPIError) -> RequestCaller {
        let readsPage = (head.method == "GET" || head.method == "HEAD") && files.contains(path)
        try gate.check(head.method, head.headers, readsPage: readsPage)
        if readsPage || (head.method == "POST" && path == ConsoleGate.begin) {
            return RequestCaller(peer: head.peer, isAnonymous: true)
        }
        guard let session = session(of: head.headers) else { throw .consoleSessionMissing }
        return RequestCaller(peer: session.peer, session: session.id)
    }

    /// Whether a browser is led here at the end of a login (RFC 8252 section 7.3): to a path that no route has, with
    /// the `state` of that login. It is shown the page, which passes the address on to the tab with the session.
    func isLanding(_ method: String, _ target: RequestTarget) -> Bool {
        guard method == "GET", target.query["state"] != nil else { return false }
        let path = target.path
        return path == "/" || !(files.contains(path) || path == ConsoleGate.begin || target.segments.first == "v1")
    }

    func session(of headers: HTTPHeaders) -> ConsoleTable.Session? {
        guard let key = headers.first(ConsoleGate.keyHeader) else { return nil }
        let cookies = gate.cookies(in: headers)
        return table.withLock { $0.session(cookies: cookies, key: key, now: .now) }
    }

    func begin(_ session: Int) { table.withLock { $0.begin(session, now: .now) } }
    func finish(_ session: Int) { table.withLock { $0.finish(session, now: .now) } }
}

/// A file of the console's page.
public struct ConsoleFile: Sendable {
    let path: String
    let type: String
    let text: String

    /// - Parameters:
    ///   - path: such as `/page.css`; `/` is the page.
    ///   - type: its media type.
    public init(path: String, type: String, text: String) {
        self.path = path
        self.type = type
        self.text = text
    }
}

extension Router {
    /// Adds the page's files, and how a session begins and ends.
    ///
    /// - Parameter changed: called when a session has begun or ended.
    mutating func addConsole(
        _ files: [ConsoleFile], _ door: ConsoleDoor, policy: AccessPolicy, changed: @escaping @Sendable () -> Void
    ) {
        for file in files {
            on("GET", file.path, needs: .read, .init("A file of the page", answer: .openObject("a file"))) { _ in
                LocalResponse(
                    status: 200, headers: ["Content-Type": file.type, "Cache-Control": "no-store"],
                    body: .bytes(Array(file.text.utf8)))
            }
        }
        let answer = Schema.openObject("the user whose rights the session has")
        on(
            "POST", ConsoleGate.begin, needs: .read,
            .init(
                "Begin a session", body: ["token": .string("token of the address")], required: ["token"], answer: answer
            )
        ) { request in
            guard let token = request.json["token"]?.string else {
                throw LocalAPIError.badBody(reason: "has no token")
            }
            let session = try door.change { table throws(LocalAPIError) in try table.open(token, now: .now) }
            changed()
            var members = Self.rights(of: session.peer, by: policy)
            members["key"] = .string(session.key)
            var response = LocalResponse.json(.object(members))
            response.headers.add("Cache-Control", "no-store")
            response.headers.add(
                "Set-Cookie",
                "\(door.gate.cookieName(session.id))=\(session.cookie); HttpOnly; SameSite=Strict; Path=/")
            return response
        }
        on("GET", ConsoleGate.begin, needs: .read, .init("The session", answer: answer)) { request in
            .json(.object(Self.rights(of: request.peer, by: policy)))
        }
        on("DELETE", ConsoleGate.begin, needs: .read, .init("End the session", answer: answer)) { request in
            if let session = door.session(of: request.headers) {
                _ = door.change { table in table.end { $0.id == session.id } }
                changed()
            }
            return .json(["ended": true])
        }
    }

    private static func rights(of peer: Peer, by policy: AccessPolicy) -> [String: JSON] {
        let allowed = Permission.allCases.filter { $0 != .call && policy.allows(peer, $0) }
        return [
            "uid": .integer(Int64(peer.uid)), "permissions": .array(allowed.map { .string($0.rawValue) }),
        ]
    }
}
