import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    /// The lab's SCIM beyond what boards ask of it, asked by curl. That it is SCIM, scim2-tester says in
    /// `GatewayServicesTests`.
    @Suite("Directory of the lab")
    struct DirectoryTests {
        private static let user = "urn:ietf:params:scim:schemas:core:2.0:User"

        private struct Caller {
            let shop: Workshop
            let token: String

            func send(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> Curl.Reply {
                try await shop.curl.send(
                    method, "/SCIM/MAS/v2" + path,
                    headers: ["Authorization": "Bearer \(token)", "Content-Type": "application/scim+json"],
                    body: body?.bytes)
            }

            /// The names of those that a filter finds.
            func users(_ filter: String) async throws -> [String] {
                let reply = try await send("GET", "/Users?filter=\(Workshop.escaped(filter))")
                guard reply.status == 200 else { throw Unexpected(reply: reply) }
                return reply.json["Resources"]?.array?.compactMap { $0["userName"]?.string } ?? []
            }
        }

        private func withAlice(_ body: (Caller) async throws -> Void) async throws {
            try await Workshop.open { shop in
                let alice = try await shop.lab.makeClient(named: "phone", user: "alice")
                try await body(Caller(shop: shop, token: alice.accessToken))
            }
        }

        @Test("the lab's SCIM takes attributes with the URN of their schema, and filters of values in brackets")
        func filters() async throws {
            try await withAlice { alice in
                for (filter, names) in [
                    (#"\#(Self.user):userName eq "bob""#, ["bob"]),
                    (#"\#(Self.user.uppercased()):NAME.familyName sw "Arch""#, ["alice"]),
                    (#"urn:ietf:params:scim:schemas:core:2.0:Group:userName eq "bob""#, []),
                    (#"emails[type eq "work" and value co "bob@"]"#, ["bob"]),
                    (#"emails[type eq "home" and value co "bob@"]"#, []),
                    (#"emails[value sw "bob"] or photos[type eq "none"]"#, ["bob"]),
                    (#"not (emails[value ew "(]" or primary eq false])"#, ["alice", "bob"]),
                    (#"schemas[value eq "\#(Self.user)"]"#, ["alice", "bob"]),
                ] as [(String, [String])] {
                    #expect(try await alice.users(filter) == names, "\(filter)")
                }
                for filter in ["emails[", "emails[]", #"emails[type eq "work""#, #"emails type eq "work"]"#, "] pr"] {
                    let reply = try await alice.send("GET", "/Users?filter=\(Workshop.escaped(filter))")
                    #expect(reply.status == 400 && reply.json["scimType"] == "invalidFilter", "\(filter)")
                }
                let part = try await alice.send("GET", "/Users/bob?attributes=\(Self.user):name.givenName,emails.value")
                #expect(part.json["name"] == ["givenName": "Bob"] && part.json["userName"] == nil)
                #expect(part.json["emails"] == [["value": "bob@lab.test"]])
                let sorted = try await alice.send("GET", "/Users?sortBy=\(Self.user):userName&sortOrder=descending")
                #expect(sorted.json["Resources"]?[0]?["userName"] == "bob")
            }
        }

        @Test("the lab's SCIM describes itself: what it can do, its resources, and all that these have")
        func description() async throws {
            try await withAlice { alice in
                let abilities = try await alice.send("GET", "/ServiceProviderConfig").json
                #expect(abilities["filter"]?["supported"] == true && abilities["patch"]?["supported"] == false)
                let types = try await alice.send("GET", "/ResourceTypes").json["Resources"]?.array ?? []
                #expect(types.compactMap { $0["endpoint"]?.string } == ["/Users", "/Groups"])
                let schemas = try await alice.send("GET", "/Schemas").json["Resources"]?.array ?? []
                #expect(schemas.count == 5)
                // Nothing is published that has no schema: neither a resource nor a description.
                let made = try await alice.send(
                    "POST", "/Groups",
                    [
                        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": "g",
                        "members": [["value": "bob"]],
                    ])
                let bob = try await alice.send("GET", "/Users/bob").json
                for resource in [made.json, bob, abilities] + types + schemas {
                    let schema = try #require(schemas.first { $0["id"] == resource["schemas"]?[0] })
                    expectDescribed(resource, by: schema["attributes"]?.array ?? [], beside: ["id", "schemas", "meta"])
                }
                #expect(try await alice.send("GET", "/Schemas?filter=id%20pr").status == 403)
            }
        }

        private func expectDescribed(_ value: JSON, by attributes: [JSON], beside common: Set<String> = []) {
            for (name, part) in value.object ?? [:] where !common.contains(name) {
                let attribute = attributes.first { $0["name"]?.string == name }
                #expect(attribute != nil, "\(name) is in no schema")
                #expect(attribute?["multiValued"]?.bool == (part.array != nil), "\(name)")
                guard let parts = attribute?["subAttributes"]?.array else { continue }
                // The schema of schemas describes parts, and not again the parts of these (RFC 7643 section 8.7.2).
                let known: Set<String> = name == "subAttributes" ? ["subAttributes"] : []
                for one in part.array ?? [part] { expectDescribed(one, by: parts, beside: known) }
            }
        }

        @Test("clients of the lab's SCIM make users and search them, and cannot change the lab's own people")
        func users() async throws {
            try await withAlice { alice in
                let carol: JSON = [
                    "schemas": [.string(Self.user)], "userName": "carol", "id": "mine", "externalId": "c-1",
                    "active": false,
                    "emails": [["value": "carol@lab.test", "unknown": 1]],
                ]
                let made = try await alice.send("POST", "/Users", carol)
                let id = try #require(made.json["id"]?.string)
                #expect(made.status == 201 && id != "mine" && made.json["emails"] == [["value": "carol@lab.test"]])
                #expect(made.json["externalId"] == "c-1" && made.json["meta"]?["resourceType"] == "User")
                #expect(made.header("Location") == made.json["meta"]?["location"]?.string)
                #expect(try await alice.send("POST", "/Users", carol).json["scimType"] == "uniqueness")
                #expect(try await alice.users("active eq false") == ["carol"])
                let search: JSON = [
                    "schemas": ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"], "count": 1,
                    "filter": #"userName eq "carol""#, "attributes": ["userName"],
                ]
                for place in ["", "/Users"] {
                    let found = try await alice.send("POST", "\(place)/.search", search)
                    #expect(found.json["Resources"]?[0]?["userName"] == "carol", "\(found.text)")
                    #expect(found.json["Resources"]?[0]?["emails"] == nil)
                }
                #expect(try await alice.send("POST", "/Groups/.search", search).json["totalResults"] == 0)
                let group: JSON = [
                    "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": "g",
                    "members": [["value": .string(id)]],
                ]
                let path = "/Groups/\(try #require(try await alice.send("POST", "/Groups", group).json["id"]?.string))"
                #expect(try await alice.send("GET", path).json["members"]?[0]?["display"] == "carol")
                #expect(try await alice.send("DELETE", "/Users/\(id)").status == 204)
                #expect(try await alice.send("GET", path).json["members"] == [])
                #expect(try await alice.send("DELETE", "/Users/bob").status == 403)
                #expect(try await alice.send("GET", "/Users/\(id)").status == 404)
            }
        }

        @Test("every refusal of the lab's SCIM is one of SCIM, that of a token with the gateway's number in the header")
        func refusals() async throws {
            try await withAlice { alice in
                let stranger = Caller(shop: alice.shop, token: "unknown")
                for (caller, method, path, status) in [
                    (alice, "GET", "/Nothing", 404), (alice, "GET", "/Users/nobody", 404),
                    (alice, "GET", "/Users?count=few", 400), (alice, "POST", "/Users", 400),
                    (alice, "GET", "/Users?attributes=id&excludedAttributes=name", 400),
                    (alice, "DELETE", "/Groups", 405), (alice, "PUT", "/Schemas", 405),
                    (alice, "PATCH", "/Users/bob", 501), (alice, "GET", "/Me", 501),
                    (stranger, "GET", "/Users", 401),
                ] as [(Caller, String, String, Int)] {
                    let reply = try await caller.send(method, path, method == "POST" ? [:] : nil)
                    #expect(reply.status == status, "\(method) \(path)")
                    #expect(reply.json["status"]?.string == "\(status)" && reply.json["detail"]?.string != nil)
                    #expect(reply.json["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"])
                    #expect(reply.header("Content-Type") == "application/scim+json")
                    #expect((reply.header("Allow") != nil) == (status == 405))
                    #expect(reply.errorCode == (status == 401 ? "3007990" : nil))
                }
            }
        }
    }
}
