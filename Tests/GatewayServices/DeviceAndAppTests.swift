import Gateway
import Groundwork
import HTTPClient
import Testing

@testable import GatewayServices

@Suite("Devices and applications of a gateway")
struct DeviceAndAppTests {
    @Test("a directory's refusal has the service's words and numbers")
    func refusal() async {
        var response = HTTPResponse(
            status: 403, headers: ["x-ca-err": "3007991"], body: Array(#"{"detail":"not\nyours"}"#.utf8))
        let refused = ServiceError(response, ServiceOperation(text: "change the group"))
        #expect(refused.message.contains("HTTP 403, x-ca-err 3007991: not yours"))
        #expect(
            refused.explanation.gateway == GatewayNumbers(.targetAPI, 3_007_991, caError: 3_007_991, httpStatus: 403))
        response = HTTPResponse(status: 500, body: Array("<html>".utf8))
        #expect(
            ServiceError(response, ServiceOperation(text: "change the group")).message
                == "cannot change the group: the service refused (HTTP 500)")
    }

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
