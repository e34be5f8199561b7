import Foundation
import Groundwork

/// Time permits (MPIN 5.7).
extension GatewayCore {
    /// Share 1, by the RPS, which asks the relying party whether the user is revoked.
    mutating func permitShare(_ request: WireRequest, now: Date) throws -> WireResponse {
        let id = try mpinID(in: request, at: .mpinPermit)
        try requirePermits()
        guard request.query.isEmpty else { throw MPinRefusal.form("there is no query here") }
        let held = try mpinState()
        guard let user = held.users[id], user.status == .issued else {
            throw MPinRefusal(status: 403, text: "the user is not known")
        }
        guard !user.isRevoked else { throw MPinRefusal(status: mpinPolicy.revocationStatus, text: "revoked") }
        let hash = MPinNumber.hash(Hex.decode(id) ?? [])
        let (day, authorities) = (MPinNumber.day(now), MPinAuthorities(state: held))
        let share = try authorities.share(.one, of: MPinNumber.hash(hash, day: day), lie: request.lie)
        return .json([
            "date": .integer(Int64(day)), "timePermit": .string(Hex.encode(share)),
            "signature": .string(authorities.signature(Hex.encode(hash))), "storageId": .string(Hex.encode(hash)),
            "message": "OK", "version": "0.3",
        ])
    }

    private func requirePermits() throws {
        guard mpinPolicy.usePermits else { throw MPinRefusal.form("time permits are not used here") }
    }

    /// D-TA 2's share from the storage, as text.
    mutating func storedPermit(_ request: WireRequest, now: Date) throws -> WireResponse {
        try requirePermits()
        guard mpinPolicy.permitStorage else { throw MPinRefusal.form(404, "there is no storage") }
        let held = try mpinState()
        let parts = request.path.dropFirst(Endpoint.mpinStorage.path.count + 1).split(
            separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == held.appID, let day = Int(parts[1]), request.query.isEmpty,
            let hash = MPinNumber.bytes(String(parts[2]), count: 32)
        else { throw MPinRefusal.form(404, "the path is not application, day and user") }
        // Only days for which permits are made ahead, of users who may have them.
        let today = MPinNumber.day(now)
        let isAllowed = held.users.values.contains { user in
            user.status == .issued && !user.isRevoked && MPinNumber.hash(Hex.decode(user.id) ?? []) == hash
        }
        guard (today - 1...today + 13).contains(day), isAllowed else {
            throw MPinRefusal(status: 404, text: "no such time permit")
        }
        let share = try MPinAuthorities(state: held).share(
            .two, of: MPinNumber.hash(hash, day: day), lie: request.lie)
        return .text(Hex.encode(share) + "\n")
    }

    /// Share 2, by D-TA 2 itself.
    mutating func secondPermitShare(_ request: WireRequest, now: Date) throws -> WireResponse {
        try requirePermits()
        let query = try mpinQuery(request, ["hash_mpin_id", "app_id", "mobile", "signature"], status: 403)
        guard let hash = MPinNumber.bytes(query["hash_mpin_id"] ?? "", count: 32), query["mobile"] == "1" else {
            throw MPinRefusal.form(403, "an argument is malformed")
        }
        let authorities = MPinAuthorities(state: try mpinState())
        guard query["app_id"] == authorities.state.appID,
            query["signature"] == authorities.signature(Hex.encode(hash))
        else { throw MPinRefusal.form(401, "the signature is not right") }
        let dated = MPinNumber.hash(hash, day: MPinNumber.day(now))
        let share = try authorities.share(.two, of: dated, lie: request.lie)
        return .json(["timePermit": .string(Hex.encode(share)), "message": "OK", "version": "0.3"])
    }
}
