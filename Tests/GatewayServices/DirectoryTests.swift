import Gateway
import Groundwork
import HTTPClient
import Testing

@testable import GatewayServices

@Suite("The directory of a gateway")
struct DirectoryTests {
    private func directory(_ answering: Answering) -> Directory {
        Directory(client: answering.client, base: "/SCIM/MAS/v2/")
    }

    @Test("a directory's user by id is an object, or a list of one, as gateways differ")
    func byID() async throws {
        for body in [#"{"id":"7","userName":"al"}"#, #"{"totalResults":1,"Resources":[{"id":"7","userName":"al"}]}"#] {
            let answering = Answering((200, body))
            #expect(try await directory(answering).find(.user, .id("a/7"))["userName"] == "al")
            #expect(answering.requests[0].path == "/SCIM/MAS/v2/Users/a%2F7")
            #expect(answering.requests[0].headers.first("Accept") == "application/scim+json")
        }
        let empty = Answering((200, #"{"totalResults":0,"Resources":[]}"#))
        let error = await failure(as: ServiceError.self) { try await directory(empty).find(.user, .id("7")) }
        #expect(error == .userUnknown(name: "7"))
    }

    @Test(
        "a directory's answers that are not what the protocol says are refused",
        arguments: [
            "", "[]", "{}", #"{"totalResults":1}x"#, #"{"totalResults":-1}"#,
            #"{"totalResults":0,"Resources":[{"id":"1"}]}"#,
            #"{"totalResults":1,"Resources":[{"userName":"al"}]}"#, #"{"totalResults":1,"Resources":["al"]}"#,
        ])
    func badLists(body: String) async {
        let error = await failure(as: ServiceError.self) { try await directory(Answering((200, body))).list(.user) }
        #expect(error?.code == "services.answer-invalid")
    }

    @Test("several directory users of one name, and a schema that was not asked for, are refused")
    func ambiguous() async {
        let two = Answering((200, #"{"totalResults":2,"Resources":[{"id":"1"},{"id":"2"}]}"#))
        #expect(
            await failure(as: ServiceError.self) { try await directory(two).find(.user, .name("al")) }?.code
                == "services.answer-invalid")
        let schema = Answering((200, #"{"id":"urn:other","attributes":[]}"#))
        #expect(
            await failure(as: ServiceError.self) { try await directory(schema).schema(of: .user) }?.code
                == "services.answer-invalid")
        #expect(schema.requests[0].headers.isEmpty, "schemas are asked for without SCIM's media type")
    }

    @Test("a directory group is written back whole, with what this program does not know of it")
    func wholeGroup() async throws {
        let group = #"{"id":"g","displayName":"G","owner":{"value":"al"},"x":1,"members":[{"value":"1"}]}"#
        let answering = Answering(
            HTTPResponse(status: 200, body: Array(#"{"id":"2","userName":"bo"}"#.utf8)),
            HTTPResponse(status: 200, body: Array(group.utf8)), HTTPResponse(status: 204))
        let changed = try await directory(answering).add(.id("2"), toGroup: .id("g"))
        #expect(changed["x"] == 1 && changed["members"]?.array?.count == 2)
        let put = answering.requests[2]
        #expect(put.method == "PUT" && put.path == "/SCIM/MAS/v2/Groups/g")
        let body = try JSON(parsing: put.body ?? [])
        #expect(body["owner"] == ["value": "al"])
        #expect(body["members"]?[1] == ["value": "2", "display": "bo", "type": "User"])
    }

    @Test("a directory's refusal has the service's words and numbers")
    func refusal() async {
        var response = HTTPResponse(
            status: 403, headers: ["x-ca-err": "3007991"], body: Array(#"{"detail":"not\nyours"}"#.utf8))
        let refused = ServiceError(response, .changeGroup)
        #expect(refused.message.contains("HTTP 403, x-ca-err 3007991: not yours"))
        #expect(
            refused.explanation.gateway == GatewayNumbers(.targetAPI, 3_007_991, caError: 3_007_991, httpStatus: 403))
        response = HTTPResponse(status: 500, body: Array("<html>".utf8))
        #expect(
            ServiceError(response, .changeGroup).message == "cannot change the group: the service refused (HTTP 500)")
    }

    @Test(
        "a directory user's picture is bytes or an address",
        arguments: [
            ("data:image/png;base64,AQI=", Photo.bytes([1, 2], mediaType: "image/png")),
            ("image/jpeg;base64,AQI=", .bytes([1, 2], mediaType: "image/jpeg")),
            ("base64,AQI=", .bytes([1, 2], mediaType: "application/octet-stream")),
            ("data:image/<x>;base64,AQI=", .bytes([1, 2], mediaType: "application/octet-stream")),
            ("https://a.example/p", .address("https://a.example/p")), ("data:image/png;base64,!", nil),
            ("http://a.example/p", nil), ("", nil),
        ] as [(String, Photo?)])
    func photo(value: String, photo: Photo?) {
        #expect(Photo(value) == photo)
    }
}

@Suite("Devices and applications of a gateway")
struct DeviceAndAppTests {
    @Test("devices are an array, or an object with one array, as the protocol leaves it open")
    func devices() async throws {
        for body in [#"[{"a":1}]"#, #"{"devices":[{"a":1}],"total":1}"#] {
            let services = DeviceServices(client: Answering((200, body)).client, listPath: "/l", metadataPath: "/m")
            #expect(try await services.devices() == [["a": 1]])
        }
        for body in ["{}", "[1]", #"{"a":[],"b":[]}"#, "x"] {
            let services = DeviceServices(client: Answering((200, body)).client, listPath: "/l", metadataPath: "/m")
            #expect(await failure(as: ServiceError.self) { try await services.devices() } != nil, "\(body)")
        }
    }

    @Test("a missing attribute (1016156) reads as none and deletes with success (MAG checklist 45)")
    func absentAttribute() async throws {
        let absent = HTTPResponse(status: 404, headers: ["x-ca-err": "1016156"])
        let answering = Answering(absent, absent, HTTPResponse(status: 404))
        let services = DeviceServices(client: answering.client, listPath: "/l", metadataPath: "/m")
        #expect(try await services.value(of: "a b") == nil)
        try await services.delete("a b")
        #expect(answering.requests.map(\.path) == ["/m/a%20b", "/m/a%20b"])
        // Another 404 is not the gateway's word.
        #expect(
            await failure(as: ServiceError.self) { try await services.value(of: "a") }?.code == "services.not-found")
    }

    @Test(
        "a list of applications is read strictly (140005)",
        arguments: [
            "", "{}", #"{"enterprise-apps":[{}]}"#, #"{"enterprise-apps":[{"app":{"id":""}}]}"#,
            #"{"enterprise-apps":[{"app":{"id":"../x"}}]}"#,
        ])
    func badApps(body: String) {
        let error = #expect(throws: ServiceError.self) { try EnterpriseApps.apps(Array(body.utf8)) }
        #expect(error?.explanation.gateway == .local(140_005))
    }

    @Test(
        "no token goes to an application's address outside the gateway (140001)",
        arguments: [
            "https://other.example:8443/x", "https://gw.example/x", "https://gw.example:9443/x",
            "http://gw.example:8443/x", "https://gw.example@other.example:8443/x", "//gw.example:8443/x",
        ])
    func foreign(url: String) async {
        let list = #"{"enterprise-apps":[{"app":{"id":"a","auth_url":"\#(url)"}}]}"#
        let answering = Answering((200, list), (200, "page"))
        let apps = EnterpriseApps(
            client: answering.client, path: "/e", gateway: .init(host: "gw.example", port: 8443, prefix: "")
        ) { _ in HTTPResponse(status: 200) }
        #expect(
            await failure(as: ServiceError.self) { try await apps.open("a") } == .appAddressForeign(id: "a"))
        #expect(answering.requests.count == 1, "nothing was sent there")
    }

    private func redirection(_ location: String) -> HTTPResponse {
        HTTPResponse(status: 302, headers: ["Location": location])
    }

    private func apps(_ answers: Answering) -> EnterpriseApps {
        EnterpriseApps(
            client: answers.client, path: "/e", gateway: .init(host: "gw.example", port: 8443, prefix: "")
        ) { url in HTTPResponse(status: 200, body: Array("without credentials: \(url)".utf8)) }
    }

    private static func list(_ address: String) -> HTTPResponse {
        HTTPResponse(
            status: 200, body: Array(#"{"enterprise-apps":[{"app":{"id":"a","auth_url":"\#(address)"}}]}"#.utf8))
    }

    private static let login = "https://gw.example:8443/connect/enterprise/browser/websso/login"

    @Test(
        "an application's redirections are followed within the gateway, with the token, and no further",
        arguments: [
            (["https://GW.example:8443/b", "/c?d=e"], ["/b", "/c?d=e"], true), (["https://other.example/b"], [], false),
            (["/b", "//other.example/b"], ["/b"], false), (["http://gw.example:8443/b"], [], false),
            (["https://gw.example/b"], [], false), (["b"], [], false), ([login], [], false),
            ([login + "?from=a"], [], false), (["/b", "/connect/enterprise/browser/websso/login"], ["/b"], false),
        ])
    func redirections(locations: [String], followed: [String], arrives: Bool) async throws {
        let page = HTTPResponse(status: 200, body: Array("page".utf8))
        let answers = Answering([Self.list("https://gw.example:8443/a")] + locations.map(redirection) + [page])
        let response = try await apps(answers).open("a")
        #expect(response.isSuccess == arrives)
        #expect(arrives || response.headers.first("Location") == locations.last)
        let expected = (["/a"] + followed).map { path in
            var request = ServiceRequest("GET", "https://gw.example:8443" + path)
            request.needsUser = true
            return request
        }
        #expect(Array(answers.requests.dropFirst()) == expected)
    }

    @Test("an application whose pages lead in circles is given up, and the login page gets no token")
    func endless() async throws {
        let endless = Answering(
            [Self.list("https://gw.example:8443/a")] + Array(repeating: redirection("/a"), count: 20))
        let error = await failure(as: ServiceError.self) { try await apps(endless).open("a") }
        #expect(error?.code == "services.answer-invalid")
        #expect(endless.requests.count == 2 + EnterpriseApps.redirectionLimit)
        let login = Answering([Self.list(Self.login)])
        let page = try await apps(login).open("a")
        #expect(String(decoding: page.body, as: UTF8.self) == "without credentials: \(Self.login)")
        #expect(login.requests.count == 1)
    }

    @Test("an application's page needs a user's token, and one without an address is reported so")
    func open() async throws {
        let list =
            #"{"enterprise-apps":[{"app":{"id":"a","auth_url":"https://GW.example:8443/x"}},{"app":{"id":"b"}}]}"#
        let answering = Answering((200, list), (302, ""), (200, list), (200, list))
        let apps = EnterpriseApps(
            client: answering.client, path: "/e", gateway: .init(host: "gw.example", port: 8443, prefix: "")
        ) { _ in HTTPResponse(status: 200) }
        #expect(try await apps.open("a").status == 302)
        #expect(answering.requests[1].needsUser && answering.requests[1].path == "https://gw.example:8443/x")
        #expect(await failure(as: ServiceError.self) { try await apps.open("b") } == .appWithoutAddress(id: "b"))
        #expect(await failure(as: ServiceError.self) { try await apps.icon(of: "b") } == .iconAbsent(id: "b"))
    }
}
