import Foundation
import Groundwork

/// E22: cloud storage (MASS; MAG 11.1, MAG checklist 70).
extension GatewayCore {
    /// The longest document of an item, in bytes.
    private static let documentLimit = 256 << 10

    mutating func storage(_ request: WireRequest, now: Date) throws -> WireResponse {
        let token = try bearer(of: request, at: .storage, scope: "mas_storage", now: now)
        let below = request.path.dropFirst(Endpoint.storage.path.count)
        guard let (store, key) = place(below, token) else {
            return .json(["error": "invalid_request", "error_description": "no such segment"], status: 404)
        }
        guard !store.needsUser || token.user != nil else {
            throw GatewayFault(
                Endpoint.storage.errorPrefix + 991, status: 401, "insufficient_scope",
                "The access token is not a user's")
        }
        let held = key.flatMap { state.kept.items[store.name]?[$0] }
        switch (request.method, key) {
        case ("GET", nil): return list(store.name, below)
        case ("GET", let key?): return held.map { Self.answer(key, $0) } ?? Self.absent
        case ("PUT", let key?):
            guard held != nil else { return Self.absent }
            return try keep(request, key, in: store.name, now: now)
        case ("POST", let key?):
            guard held == nil else {
                return .json(["error": "conflict", "error_description": "The key exists"], status: 409)
            }
            guard state.kept.items.values.map(\.count).reduce(0, +) < LabServices.limit else {
                return .json(["error": "invalid_request", "error_description": "Too many items"], status: 507)
            }
            return try keep(request, key, in: store.name, now: now)
        case ("DELETE", let key?):
            guard held != nil else { return Self.absent }
            state.kept.items[store.name]?[key] = nil
            return WireResponse(status: 204)
        default: return .json(["error": "invalid_request", "error_description": "A key is missing"], status: 400)
        }
    }

    /// A real gateway's text for an unknown key is not JSON either.
    private static let absent = WireResponse(
        status: 404, headers: [("Content-Type", "text/plain")], body: Array("{not found}".utf8))

    /// The segment of a path with its owner, and the key if there is one.
    private func place(
        _ path: Substring, _ token: LabAccessToken
    ) -> (store: (name: String, needsUser: Bool), key: String?)? {
        let application = state.instances[token.clientID]?.master ?? token.clientID
        let user = token.user ?? ""
        let segments: [(path: String, name: String, needsUser: Bool)] = [
            ("/Client/User/Data", "both \(application) \(user)", true), ("/User/Data", "user \(user)", true),
            ("/Client/Data", "application \(application)", false),
        ]
        for segment in segments where path == segment.path || path.hasPrefix(segment.path + "/") {
            let rest = path.dropFirst(segment.path.count + 1)
            guard !rest.isEmpty else { return ((segment.name, segment.needsUser), nil) }
            guard !rest.contains("/"), let key = PercentEncoding.decode(rest.utf8),
                let text = String(validating: key, as: UTF8.self)
            else { return nil }
            return ((segment.name, segment.needsUser), text)
        }
        return nil
    }

    private mutating func keep(
        _ request: WireRequest, _ key: String, in store: String, now: Date
    ) throws -> WireResponse {
        guard request.body.count <= Self.documentLimit, let body = try? JSON(parsing: request.body),
            body["key"]?.string == key, body["type"]?.string != nil, body["value"]?.string != nil
        else {
            throw GatewayFault(Endpoint.storage.errorPrefix + 103, "invalid_request", "It is not an item of the key")
        }
        state.kept.items[store, default: [:]][key] = LabServices.Item(
            document: request.body, modified: Int64(now.timeIntervalSince1970 * 1000))
        return WireResponse(status: 204)
    }

    /// Always as a document in a document, which both public clients read (MAG 11.1).
    private static func answer(_ key: String, _ item: LabServices.Item) -> WireResponse {
        .json([
            "key": .string(key), "type": "application/json", "modifiedDate": .integer(item.modified),
            "value": .string(Base64.encode(item.document)),
        ])
    }

    private func list(_ store: String, _ path: Substring) -> WireResponse {
        let items = (state.kept.items[store] ?? [:]).sorted { $0.key < $1.key }
        return .json([
            "totalItems": .integer(Int64(items.count)),
            "results": .array(
                items.map { key, item in
                    [
                        "key": .string(key), "modifiedDate": .integer(item.modified),
                        "type": (try? JSON(parsing: item.document))?["type"] ?? "",
                        "$ref": .string("\(baseURL)\(Endpoint.storage.path)\(path)/\(percentEncoded(key))"),
                    ]
                }),
        ])
    }
}
