import AgentCore
import Groundwork
import LocalAPI

/// The grants by which local programs act in the name of the board or its user.
extension GrantsFeature {
    package func addGrantRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/grants", needs: .read,
            .init(
                "What local programs may do in the name of the board or its user",
                answer: .object(all: [
                    "grants": .array(of: .grant, "those of the settings first"),
                    "limitedBySettings": .boolean(
                        "whether programs of users who may operate need a grant too, because the settings have some"
                    ),
                    "askSeconds": .integer("how long users are asked about other programs; 0: no user is asked"),
                ]))
        ) { _ in
            let (fixed, kept) = self.authorizer.book.all
            let list =
                fixed.map { $0.json(isInSettings: true, uses: self.authorizer.book.uses(of: $0)) }
                + kept.map { $0.json(isInSettings: false, uses: self.authorizer.book.uses(of: $0)) }
            return .json([
                "grants": .array(list), "limitedBySettings": .bool(self.authorizer.book.isLimitedBySettings),
                "askSeconds": .integer(Int64(self.host.settings[ProgramSettings.self].askSeconds)),
            ])
        }
        router.on(
            "POST", "/v1/grants", needs: .operate,
            .init("Set what some programs may do, or may never do", body: Schema.grantMembers, answer: .grant)
        ) { request in
            try self.checkMayGrant(request)
            let grant = try ProgramGrant(json: RequestBody(request).json, id: "")
            // Who may operate could else open every user's keys to himself.
            guard request.isOwner || grant.storeOf.isEmpty else { throw GrantError.storeOfOwners }
            let added = try await self.authorizer.allow(grant, by: UserName.of(request.peer.uid))
            return .json(added.json(isInSettings: false))
        }
        router.on(
            "DELETE", "/v1/grants/{grant}", needs: .operate,
            .init(
                "Revoke a grant; calls in progress that only it allows end at once",
                path: ["grant": .string("its number")],
                answer: .grant)
        ) { request in
            try self.checkMayGrant(request)
            let id = request.parameters["grant"] ?? ""
            return .json(
                try await self.authorizer.revoke(id, by: UserName.of(request.peer.uid)).json(isInSettings: false))
        }
        router.on(
            "GET", "/v1/grants/log", needs: .operate,
            .init(
                "What programs did in the name of the board or its user: uses, refusals and changes",
                query: ["limit": .integer("maximum number of records; 100 by default", in: 1...1000)],
                answer: .object(all: ["records": .array(of: .grantRecord, "the newest last")]))
        ) { request in
            let count = try request.integer("limit", in: 1...1000, default: 100)
            return .json(["records": .array(await self.authorizer.log.newest(Int(count)))])
        }
    }

    /// Where the settings say what programs may do, no user gives his own programs more.
    ///
    /// - Throws: ``GrantError/onlyOwners``
    private func checkMayGrant(_ request: LocalRequest) throws(GrantError) {
        guard request.isOwner || !authorizer.book.isLimitedBySettings else { throw .onlyOwners }
    }
}

extension Schema {
    fileprivate static var grantRecord: Schema {
        named(
            "GrantRecord",
            .object(
                [
                    "id": .integer("number of the record since the agent started"), "time": .time("time of the record"),
                    "outcome": .string(
                        "what happened", choices: ["used", "refused", "once", "allowed", "never", "revoked"]),
                    "uid": .integer("user ID of the program"), "user": .string("name of that user"),
                    "unit": .string("systemd unit of the program"), "account": .accountName,
                    "storeOf": .integer("user ID whose keys and credentials were used"),
                    "as": .string("whose token, if the program named it", choices: ["board", "user"]),
                    "host": .string("host that was called, or whose trust ended; missing for the token itself"),
                    "grant": .string("the grant that applied or was changed"),
                    "by": .string("who changed it, or allowed it once"),
                    "times": .integer("how often it happened since its last record"),
                    "omitted": .integer(
                        "other records about this user that were left out since then, to limit their number"),
                ], required: ["id", "time", "outcome"], "What a program did, or what was changed"))
    }
}
