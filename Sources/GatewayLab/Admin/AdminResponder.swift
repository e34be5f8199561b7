import Foundation
import Groundwork
import HTTPTypes
import HummingbirdCore
import NIOCore

/// The admin port: the page for the browser and the API behind it. Plain HTTP, so it only listens on loopback.
struct AdminResponder: HTTPResponder {
    let lab: Lab

    func respond(to request: Request, on connection: Connection) async throws -> Response {
        guard isLocal(request.head.authority) else {
            // Another site's name may resolve to this machine (DNS rebinding); such requests are refused.
            return answer(.json(["error": "this host name is not the lab's"], status: 403))
        }
        let target = (request.head.path ?? "/").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let segments = target[0].split(separator: "/").map(String.init)
        switch (request.method, segments) {
        case (.get, []): return page(AdminPage.html, "text/html; charset=utf-8")
        case (.get, ["page.css"]): return page(AdminPage.css, "text/css; charset=utf-8")
        case (.get, ["page.js"]): return page(AdminPage.script, "text/javascript; charset=utf-8")
        case (_, let segments) where segments.first == "api":
            guard lab.token.isIn(request.headers[.authorization]) else { return unauthorized }
            if request.method == .get, segments == ["api", "events"] { return events() }
            let query = target.count > 1 ? Parameters(query: String(target[1])) : nil
            return try await call(Array(segments.dropFirst()), query, request)
        default: return answer(.json(["error": "no such page"], status: 404))
        }
    }

    /// For requests without the token: from another user of this machine, or a page that was opened without it.
    private var unauthorized: Response {
        var refusal = WireResponse.json(
            ["error": "the admin token is missing or not this lab's", "code": "lab.unauthorized"], status: 401)
        refusal.headers.append(("WWW-Authenticate", "Bearer realm=\"latchkey-lab admin\""))
        return answer(refusal)
    }

    private func call(_ path: [String], _ query: Parameters?, _ request: Request) async throws -> Response {
        var input: JSON = .null
        if request.method != .get {
            // A form of another site cannot send this type without asking first (CSRF).
            guard request.headers[.contentType]?.hasPrefix("application/json") ?? false else {
                return answer(.json(["error": "the content type must be application/json"], status: 415))
            }
            let body: ByteBuffer
            do {
                body = try await request.body.collect(upTo: WireRequest.bodyLimit)
            } catch is NIOTooManyBytesError {
                return answer(.json(["error": "the body is too long"], status: 413))
            }
            if body.readableBytes > 0 {
                guard let value = try? JSON(parsing: Array(buffer: body)) else {
                    return answer(.json(["error": "the body is not JSON"], status: 400))
                }
                input = value
            }
        }
        do {
            let api = AdminAPI(lab: lab)
            guard let result = try await api.call(request.method.rawValue, path, query, input) else {
                return answer(.json(["error": "no such call", "code": "lab.bad-input"], status: 404))
            }
            return answer(.json(result))
        } catch let error as any Explained {
            let explanation = error.explanation
            return answer(
                .json(
                    [
                        "error": .string(explanation.message), "code": .string(explanation.code),
                        "kind": .string(explanation.kind.rawValue),
                    ], status: explanation.kind.httpStatus))
        }
    }

    /// Server-sent events: one for each event and each message, so that the page knows when to refresh.
    private func events() -> Response {
        let (signals, signal) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1))
        let (events, arrivals) = (lab.events.subscribe(bound: 1), lab.arrivals.subscribe(bound: 1))
        let watch = Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in events { signal.yield("event") } }
                group.addTask { for await _ in arrivals { signal.yield("message") } }
            }
            signal.finish()
        }
        signal.onTermination = { _ in watch.cancel() }
        let body = ResponseBody { writer in
            try await writer.write(ByteBuffer(string: ": connected\n\n"))
            for await name in signals {
                try await writer.write(ByteBuffer(string: "event: \(name)\ndata: {}\n\n"))
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
    }

    private func page(_ text: String, _ type: String) -> Response {
        answer(
            WireResponse(
                status: 200,
                headers: [
                    ("Content-Type", type), ("Cache-Control", "no-store"),
                    (
                        "Content-Security-Policy",
                        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; "
                            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
                    ),
                ],
                body: Array(text.utf8)))
    }

    private func answer(_ response: WireResponse) -> Response {
        var response = response
        response.headers += [("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer")]
        return GatewayResponder.response(response)
    }

    private func isLocal(_ authority: String?) -> Bool {
        guard let authority else { return false }
        return ["127.0.0.1", "localhost", "[::1]"].contains { authority == "\($0):\(lab.adminPort)" }
    }
}
