import Foundation
import Groundwork
import HTTPTypes
import HummingbirdCore
import NIOCore

/// Converts between Hummingbird's requests and answers and the protocol's, and applies the faults that are set.
struct GatewayResponder: HTTPResponder {
    let store: GatewayStore
    let faults: FaultInjector
    let journal: Journal
    let prefix: String

    func respond(to request: Request, on connection: Connection) async throws -> Response {
        let (path, query) = split(request.head.path ?? "/")
        let endpoint = Endpoint(at: path)
        if let endpoint { journal.count(endpoint) }
        var answer: WireResponse?
        var losesAnswer = false
        var lie: MPinLie?
        for fault in faults.take(for: endpoint) {
            switch fault {
            case .delay(let milliseconds):
                journal.record(
                    .fault, "delays its answer by \(milliseconds) ms", endpoint: endpoint, at: store.clock.now)
                try await Task.sleep(for: .milliseconds(milliseconds))
            case .drop: return try await close(connection, endpoint: endpoint)
            case .dropAnswer: losesAnswer = true
            case .status(204): answer = WireResponse(status: 204)  // Has no body (RFC 9110 section 15.3.5).
            case .status(let status): answer = .json(["error": "server_error"], status: status)
            case .error(let code, let status):
                answer = GatewayFault(code, status: status, "server_error", "A requested fault").response
            case .captivePortal: answer = Self.captivePortal
            case .lie(let told): lie = told
            }
        }
        if answer == nil {
            let known = (endpoint, path, query, lie)
            answer = try await protocolAnswer(to: request, known, connection)
        }
        guard let answer, !losesAnswer else { return try await close(connection, endpoint: endpoint) }
        let magIdentifier = Self.field("mag-identifier", of: request)
        journal.record(
            .request, "\(request.method.rawValue) \(Self.shown(path, endpoint)) \(answer.status)", endpoint: endpoint,
            status: answer.status, errorCode: answer.errorCode, magIdentifier: magIdentifier, at: store.clock.now)
        if let note = answer.note {
            let mag = answer.headers.first { $0.name == "mag-identifier" }?.value ?? magIdentifier
            journal.record(.session, note, endpoint: endpoint, magIdentifier: mag, at: store.clock.now)
        }
        return Self.response(answer)
    }

    private func protocolAnswer(
        to request: Request, _ known: (endpoint: Endpoint?, path: String, query: String, lie: MPinLie?),
        _ connection: Connection
    ) async throws -> WireResponse {
        guard let endpoint = known.endpoint else {
            return .json(["error": "invalid_request", "error_description": "no such endpoint"], status: 404)
        }
        let body: ByteBuffer
        do {
            body = try await request.body.collect(upTo: endpoint.bodyLimit)
        } catch is NIOTooManyBytesError {
            return .json(["error": "invalid_request", "error_description": "the body is too long"], status: 413)
        }
        let wire = WireRequest(
            method: request.method.rawValue, path: known.path, query: known.query,
            headers: request.headers.map { ($0.name.rawName, $0.value) }, body: Array(buffer: body),
            certificate: try await connection.clientCertificate(), lie: known.lie)
        let answer = try await store.answer(wire, at: endpoint)
        guard let browser = answer.awaitsBrowser else { return answer }
        return await isReleased(browser)
            ? answer : .json(["message": "the browser did not come in time"], status: 408)
    }

    /// Waits until a browser has come for its log-in with M-Pin. Every request is an event.
    private func isReleased(_ browser: String) async -> Bool {
        let events = journal.broadcast.subscribe(bound: 1)
        let patience = await store.read { $0.mpinPolicy.browserPatience }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                if await store.hasReleased(browser) { return true }
                for await _ in events where await store.hasReleased(browser) { return true }
                return false
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(patience))
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    /// Ends the connection instead of answering.
    private func close(_ connection: Connection, endpoint: Endpoint?) async throws -> Response {
        journal.record(.fault, "connection dropped", endpoint: endpoint, at: store.clock.now)
        // It may be closed already; either way there is no answer.
        try? await connection.channel.close().get()
        throw CancellationError()
    }

    private func split(_ target: String) -> (path: String, query: String) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = Self.withOneSlash(parts[0])
        let below =
            prefix.isEmpty
            ? path
            : path.hasPrefix("/\(prefix)/") ? Self.withOneSlash(path.dropFirst(prefix.count + 1)) : ""
        return (below, parts.count > 1 ? String(parts[1]) : "")
    }

    /// Some clients join a base URL that ends with a slash and a path that begins with one.
    private static func withOneSlash(_ path: Substring) -> String {
        path.hasPrefix("/") ? "/" + path.drop { $0 == "/" } : String(path)
    }

    /// The path for the journal, shortened: the full id of an authorization session would allow fetching its code, and
    /// an M-Pin ID has hundreds of digits.
    private static func shown(_ path: String, _ endpoint: Endpoint?) -> String {
        if let endpoint, endpoint.isOfMPin, path.count > endpoint.path.count + 9 {
            return path.prefix(endpoint.path.count + 9) + "…"
        }
        guard let endpoint, [.deviceAuthorization, .poll].contains(endpoint) else { return path }
        let start = path.prefix(endpoint.path.count + 1 + 8)
        return start + "…" + (endpoint == .poll ? Endpoint.pollSuffix : "")
    }

    private static func field(_ name: String, of request: Request) -> String? {
        HTTPField.Name(name).flatMap { request.headers[$0] }.map { String($0.prefix(64)) }
    }

    static func response(_ answer: WireResponse) -> Response {
        var headers = HTTPFields()
        for header in answer.headers {
            // The names are ours, so they are valid; they keep their spelling (MAG quirk Q4).
            if let name = HTTPField.Name(header.name) { headers.append(HTTPField(name: name, value: header.value)) }
        }
        guard let end = answer.breaksAfter else {
            return Response(
                status: .init(code: answer.status), headers: headers,
                body: .init(byteBuffer: ByteBuffer(bytes: answer.body)))
        }
        let body = ResponseBody(contentLength: answer.body.count) { writer in
            try await writer.write(ByteBuffer(bytes: answer.body.prefix(end)))
            throw CancellationError()
        }
        return Response(status: .init(code: answer.status), headers: headers, body: body)
    }

    /// The answer of a hotel's login page to every request.
    private static let captivePortal = WireResponse(
        status: 200, headers: [("Content-Type", "text/html")],
        body: Array("<!DOCTYPE html><title>Welcome</title><p>Log in to use this network.</p>".utf8))
}
