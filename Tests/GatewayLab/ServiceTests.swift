import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    /// The services of the gateway, asked by curl.
    @Suite("Services: users and groups, storage, metadata, applications")
    struct ServiceTests {
        private struct Caller {
            let shop: Workshop
            let token: String

            func send(_ method: String, _ path: String, _ body: JSON? = nil) async throws -> Curl.Reply {
                try await shop.curl.send(
                    method, path, headers: ["Authorization": "Bearer \(token)", "Content-Type": "application/json"],
                    body: body?.bytes)
            }
        }

        private func withAlice(_ body: (Workshop, Caller) async throws -> Void) async throws {
            try await Workshop.open { shop in
                let alice = try await shop.lab.makeClient(named: "phone", user: "alice")
                try await body(shop, Caller(shop: shop, token: alice.accessToken))
            }
        }

        private func board(_ shop: Workshop) async throws -> Caller {
            Caller(shop: shop, token: try await shop.lab.makeClient(named: "board").accessToken)
        }

        @Test(
            "SCIM needs its scope, and filters in the standard spelling and by repeated filter= (MAG Q16)")
        func filters() async throws {
            try await withAlice { shop, alice in
                let device = try await shop.registered()
                let narrow = Caller(shop: shop, token: try await shop.accessToken(device, scope: "openid"))
                #expect(try await narrow.send("GET", "/SCIM/MAS/v2/Users").errorCode == "3007991")
                func users(_ query: String) async throws -> [String] {
                    let reply = try await alice.send("GET", "/SCIM/MAS/v2/Users?\(query)")
                    #expect(reply.status == 200 && reply.header("Content-Type") == "application/scim+json")
                    return reply.json["Resources"]?.array?.compactMap { $0["userName"]?.string } ?? []
                }
                for (filter, names) in [
                    ("userName%20eq%20%22ALICE%22", ["alice"]), ("userName%20ne%20%22alice%22", ["bob"]),
                    ("name.familyName%20co%20%22ake%22", ["bob"]), ("userName%20sw%20%22a%22", ["alice"]),
                    ("emails%20ew%20%22lab.test%22", ["alice", "bob"]), ("phoneNumbers%20pr", ["alice"]),
                    ("userName%20gt%20%22alice%22", ["bob"]), ("userName%20ge%20%22alice%22", ["alice", "bob"]),
                    ("userName%20lt%20%22bob%22", ["alice"]), ("userName%20le%20%22alice%22", ["alice"]),
                    ("userName%20eq%20%22x%22%20or%20filter=userName%20eq%20%22bob%22", ["bob"]),
                    ("active%20pr%20not%20filter=userName%20eq%20%22bob%22", ["alice"]),
                    ("not%20(userName%20eq%20%22bob%22%20and%20active%20eq%20true)", ["alice"]),
                    ("nickName%20pr", []),
                ] {
                    #expect(try await users("filter=\(filter)") == names, "\(filter)")
                }
                #expect(try await users("sortBy=userName&sortOrder=descending") == ["bob", "alice"])
                #expect(try await users("sortBy=userName&startIndex=2&count=1") == ["bob"])
                for filter in ["userName", "userName%20is%20%22a%22", "(userName%20pr", "userName%20eq%20alice"] {
                    let reply = try await alice.send("GET", "/SCIM/MAS/v2/Users?filter=\(filter)")
                    #expect(reply.status == 400 && reply.json["scimType"] == "invalidFilter", "\(filter)")
                }
                let few = try await alice.send(
                    "GET", "/SCIM/MAS/v2/Users/alice?attributes=name.givenName,userName")
                #expect(few.json["name"] == ["givenName": "Alice"] && few.json["emails"] == nil)
                let most = try await alice.send("GET", "/SCIM/MAS/v2/Users/alice?excludedAttributes=photos")
                #expect(most.json["photos"] == nil && most.json["emails"] != nil)
            }
        }

        @Test("a group belongs to the user who creates it, and has a name of its own and users as members")
        func groups() async throws {
            try await withAlice { shop, alice in
                func group(_ name: String, _ members: String...) -> JSON {
                    [
                        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": .string(name),
                        "members": .array(members.map { ["value": .string($0)] }),
                    ]
                }
                let groups = "/SCIM/MAS/v2/Groups"
                let made = try await alice.send("POST", groups, group("g", "bob"))
                #expect(made.status == 201 && made.json["owner"]?["value"] == "alice")
                let id = try #require(made.json["id"]?.string)
                #expect(made.json["members"]?[0]?["display"] == "Bob Baker")
                #expect(try await alice.send("POST", groups, group("g")).status == 409)
                #expect(try await alice.send("POST", groups, group("h", "carol")).status == 400)
                #expect(try await alice.send("POST", groups, ["displayName": "h"]).status == 400)
                let other = try await board(shop)
                #expect(try await other.send("PUT", "\(groups)/\(id)", group("mine")).status == 403)
                #expect(try await other.send("DELETE", "\(groups)/\(id)").status == 403)
                let put = try await alice.send("PUT", "\(groups)/\(id)", group("g2", "alice", "bob"))
                #expect(put.json["displayName"] == "g2" && put.json["members"]?.array?.count == 2)
                #expect(try await alice.send("DELETE", "\(groups)/\(id)").status == 204)
                let gone = try await alice.send("GET", "\(groups)/\(id)")
                #expect(gone.status == 404 && gone.json["status"] == "404")
                #expect(try await alice.send("PATCH", groups).status == 405)
            }
        }

        @Test("storage answers 404 to a PUT of an unknown key, 409 to a POST of a known one (MAG checklist 70)")
        func storage() async throws {
            try await withAlice { shop, alice in
                let item: JSON = ["key": "k", "type": "text/plain", "value": "aGk="]
                for segment in ["Client", "User", "Client/User"] {
                    let list = "/MASS/v1/\(segment)/Data"
                    let unknown = try await alice.send("PUT", list + "/k", item)
                    #expect(unknown.status == 404 && unknown.json == .null, "its body is not JSON")
                    #expect(try await alice.send("POST", list + "/k", item).status == 204)
                    #expect(try await alice.send("POST", list + "/k", item).status == 409)
                    #expect(try await alice.send("PUT", list + "/k", item).status == 204)
                    let read = try await alice.send("GET", list + "/k")
                    #expect(read.json["type"] == "application/json")
                    let document = Base64.decode(read.json["value"]?.string ?? "") ?? []
                    #expect(try JSON(parsing: document) == item)
                    let all = try await alice.send("GET", list)
                    #expect(all.json["totalItems"] == 1 && all.json["results"]?[0]?["type"] == "text/plain")
                    #expect(try await alice.send("PUT", list + "/other", item).status == 404)
                    #expect(try await alice.send("POST", list + "/other", item).errorCode == "3007103")
                }
                let other = try await board(shop)
                #expect(try await other.send("GET", "/MASS/v1/Client/Data/k").status == 200, "the application's")
                #expect(try await other.send("GET", "/MASS/v1/User/Data/k").errorCode == "3007991")
                #expect(try await alice.send("DELETE", "/MASS/v1/User/Data/k").status == 204)
                #expect(try await alice.send("DELETE", "/MASS/v1/User/Data/k").status == 404)
                #expect(try await alice.send("GET", "/MASS/v1/Client/User/Data/k").status == 200)
                #expect(try await alice.send("GET", "/MASS/v1/Nowhere").status == 404)
            }
        }

        @Test(
            "metadata is 400 when full (1016155), 404 when absent (1016156), and goes with a device (MAG checklist 66)"
        )
        func metadata() async throws {
            try await withAlice { shop, alice in
                let path = "/connect/device/metadata"
                func set(_ name: String) async throws -> Curl.Reply {
                    try await alice.send("PUT", path, ["name": .string(name), "value": "v"])
                }
                for number in 1...16 { #expect(try await set("n \(number)").status == 200) }
                let full = try await set("more")
                #expect(full.status == 400 && full.errorCode == "1016155")
                #expect(try await set("n 1").status == 200, "an attribute that is there can be set again")
                #expect(try await alice.send("GET", path + "/n%201").json == ["name": "n 1", "value": "v"])
                let absent = try await alice.send("GET", path + "/more")
                #expect(absent.status == 404 && absent.errorCode == "1016156")
                #expect(try await alice.send("DELETE", path + "/n%201").status == 200)
                #expect(try await alice.send("DELETE", path + "/n%201").errorCode == "1016156")
                #expect(try await alice.send("GET", path).json.array?.count == 15)
                #expect(try await alice.send("PUT", path, ["name": "x"]).errorCode == "1016103")
                #expect(try await alice.send("DELETE", path).status == 200)
                #expect(try await alice.send("GET", path).json == [])
                let devices = try await alice.send("GET", "/connect/device/list")
                #expect(devices.json["devices"]?[0]?["device_name"] == "phone")
            }
        }

        @Test("storage and metadata outlive a restart of the lab, and files of earlier labs are read")
        func restart() async throws {
            let data = FileManager.default.temporaryDirectory.appendingPathComponent("lab-" + UUID().uuidString).path
            defer { try? FileManager.default.removeItem(atPath: data) }
            var token = ""
            try await Workshop.open({ $0.dataDirectory = data }) { shop in
                token = try await shop.lab.makeClient(named: "phone", user: "alice").accessToken
                let alice = Caller(shop: shop, token: token)
                let state = try String(contentsOfFile: data + "/state.json", encoding: .utf8)
                #expect(!state.contains("services"), "a file without services is one of an earlier lab")
                #expect(
                    try await alice.send("PUT", "/connect/device/metadata", ["name": "n", "value": "v"]).status == 200)
            }
            try await Workshop.open({ $0.dataDirectory = data }) { shop in
                let alice = Caller(shop: shop, token: token)
                let kept = try await alice.send("GET", "/connect/device/metadata/n")
                #expect(kept.json["value"] == "v")
            }
        }

        @Test("applications are offered to any token, a page to a user's, an icon to nobody's")
        func applications() async throws {
            try await withAlice { shop, alice in
                let apps = try await alice.send("GET", "/connect/enterprise/browser").json["enterprise-apps"]?.array
                #expect(
                    apps?.compactMap { $0["app"]?["id"]?.string }
                        == ["timesheet", "hours", "payroll", "portal", "draft", "scanner", "elsewhere"])
                let page = try #require(apps?[0]["app"]?["auth_url"]?.string)
                #expect(try await alice.send("GET", page.replacing(shop.lab.baseURL, with: "")).text.contains("alice"))
                let other = try await board(shop)
                #expect(
                    try await other.send("GET", page.replacing(shop.lab.baseURL, with: "")).errorCode == "3007991")
                #expect(
                    try await shop.curl.send("GET", "/lab/icons/timesheet.png").header("Content-Type") == "image/png")
                #expect(try await alice.send("GET", "/lab/icons/timesheet.png").errorCode == "3007103")
            }
        }
    }
}
