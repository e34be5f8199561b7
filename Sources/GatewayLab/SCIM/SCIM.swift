import Cryptography
import Foundation
import Groundwork

/// E21: users, groups and schemas (SCIM 2.0, RFC 7643 and 7644; MAG 10). The lab's own people cannot be changed; others
/// can be made, who cannot log in.
extension GatewayCore {
    private static let scope = "mas_identity"

    mutating func scim(_ request: WireRequest, now: Date) -> WireResponse {
        do {
            let token = try bearer(of: request, at: .scim, scope: Self.scope, now: now)
            return try scimAnswer(request, token)
        } catch let fault as SCIMFault {
            return fault.response
        } catch let fault as GatewayFault {
            return fault.scimResponse
        } catch {
            return SCIMFault(500, nil, "\(error)").response
        }
    }

    private mutating func scimAnswer(_ request: WireRequest, _ token: LabAccessToken) throws -> WireResponse {
        let segments = request.path.dropFirst(Endpoint.scim.path.count).split(separator: "/").map(Self.decoded)
        guard let place = SCIMPlace(segments) else { throw SCIMFault.absent }
        guard let query = Parameters(query: request.query) else { throw SCIMFault(400, "invalidValue", "A bad query") }
        guard place != .unsupported, request.method != "PATCH" || !place.methods.contains("PUT") else {
            throw SCIMFault(501, nil, "The lab cannot do this")
        }
        guard place.methods.contains(request.method) else {
            var response = SCIMFault(405, nil, "This cannot be done here").response
            response.headers.append(("Allow", place.methods.joined(separator: ", ")))
            return response
        }
        switch place {
        case .description(let description): return try description.answer(query, base: scimBase)
        case .search(let kind):
            let all = (kind == .groups ? [] : scimUsers) + (kind == .users ? [] : scimGroups)
            return try SCIMQuery(posted: request.body).list(of: all)
        case .users where request.method == "GET": return try SCIMQuery(query).list(of: scimUsers)
        case .groups where request.method == "GET": return try SCIMQuery(query).list(of: scimGroups)
        case .users, .groups, .user, .group: return try resource(at: place, request, query, token)
        case .unsupported: throw SCIMFault.absent
        }
    }

    /// Reads, makes, replaces or removes one.
    private mutating func resource(
        at place: SCIMPlace, _ request: WireRequest, _ query: Parameters, _ token: LabAccessToken
    ) throws -> WireResponse {
        let wanted = try SCIMQuery(query)
        switch (place, request.method) {
        case (.users, _): return try Self.made(try setUser(nil, to: request.body), wanted)
        case (.groups, _): return try Self.made(try setGroup(nil, to: request.body, by: token), wanted)
        case (.user(let id), "PUT"): return .scim(wanted.part(of: try setUser(id, to: request.body)))
        case (.group(let id), "PUT"): return .scim(wanted.part(of: try setGroup(id, to: request.body, by: token)))
        case (.user(let id), "DELETE"):
            try removeUser(id)
            return WireResponse(status: 204)
        case (.group(let id), "DELETE"):
            try removeGroup(id, by: token)
            return WireResponse(status: 204)
        case (.user(let id), _): return .scim(wanted.part(of: try Self.one(id, of: scimUsers)))
        case (.group(let id), _): return .scim(wanted.part(of: try Self.one(id, of: scimGroups)))
        default: throw SCIMFault.absent
        }
    }

    private static func made(_ resource: JSON, _ wanted: SCIMQuery) throws -> WireResponse {
        var response = WireResponse.scim(wanted.part(of: resource), status: 201)
        response.headers.append(("Location", resource["meta"]?["location"]?.string ?? ""))
        return response
    }

    static func one(_ id: String, of all: [JSON]) throws(SCIMFault) -> JSON {
        guard let found = all.first(where: { $0["id"]?.string == id }) else { throw .absent }
        return found
    }

    private static func decoded(_ segment: Substring) -> String {
        PercentEncoding.decode(segment.utf8).flatMap { String(validating: $0, as: UTF8.self) } ?? ""
    }
}
