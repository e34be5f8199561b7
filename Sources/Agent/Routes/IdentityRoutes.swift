import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient
import LocalAPI
import OAuth
import OAuthAccounts

/// Enrollment, the device's registration and its uses.
extension Agent {
    nonisolated func addIdentityRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/enrollments", needs: .operate,
            .init(
                "Enroll at a gateway by its one-time URL, or with its configuration document, and register there",
                body: [
                    "url": .string("an enrollment URL; this or a configuration has to be given").asSensitive,
                    "configuration": .openObject("a gateway's msso_config.json").asSensitive,
                    "register": .boolean("false: the first user who logs in registers the board"),
                ], answer: .gatewayStatus)
        ) { request in
            let body = try RequestBody(request)
            let account = try request.accountName()
            // Checked before the URL is used, because it works only once.
            try await self.checkRoom(for: account)
            let registers = try body.bool("register", default: true)
            let gateway: GatewayConfiguration
            if let url = try body.optionalString("url") {
                gateway = try await Enrollment(url: url).fetch(
                    using: self.client, judgedAt: { [time = self.time] in time.now })
                killPoint("enrollment-answered")
            } else if let document = body["configuration"], document.object != nil {
                gateway = try GatewayConfiguration(parsing: document.bytes)
            } else {
                throw AgentError.badRequest(member: "the body", fault: "has neither url nor configuration")
            }
            let former = await self.accounts[account]?.gateway.identity
            var report = try await self.enroll(gateway, as: account, registers: registers).report(at: self.time.now)
            if let former, former != gateway.identity { report["switchedFrom"] = ["url": .string(former.baseURL)] }
            return .json(.object(report))
        }
        router.on(
            "GET", "/v1/token", needs: .operate,
            .init(
                "A valid access token of the device",
                answer: .accessToken)
        ) { request in
            if let account = try await self.oauthAccount(of: request) { return .json(try await account.token().json) }
            return .json(try await self.account(of: request).session.accessToken().json)
        }
        router.on("POST", "/v1/renew", needs: .operate, .init("Renew the device certificate now", answer: .certificate))
        { request in
            _ = try RequestBody(request)
            let session = try await self.account(of: request).session
            try await session.renew()
            return .json(try await session.status().report(at: self.time.now)["certificate"] ?? [:])
        }
        router.on(
            "POST", "/v1/deregister", needs: .operate,
            .init(
                "Remove the device at the gateway, then here, with the messages that wait",
                answer: Self.registrationSchema)
        ) { request in
            _ = try RequestBody(request)
            let count = try await self.account(of: request).link.deregister()
            return .json(["registration": ["state": "unregistered"], "discarded": .integer(Int64(count))])
        }
        router.on(
            "POST", "/v1/reset", needs: .operate,
            .init(
                "Forget the device here, with the messages that wait; the gateway is not notified",
                answer: Self.registrationSchema)
        ) { request in
            _ = try RequestBody(request)
            let count = try await self.account(of: request).link.reset()
            return .json(["registration": ["state": "unregistered"], "discarded": .integer(Int64(count))])
        }
        router.on(
            "POST", "/v1/call", needs: .operate,
            .init(
                "Call a protected API of the gateway as this device",
                body: [
                    "method": .string("of HTTP"), "path": .string("below the gateway, or a URL on a configured host"),
                    "headers": Self.headersSchema, "body": Schema.base64("what is sent").asSensitive,
                ], required: ["method", "path"],
                answer: .object(
                    [
                        "status": .integer("of the gateway's answer", in: 100...599), "headers": Self.headersSchema,
                        "body": Schema.base64("the gateway's answer").asSensitive,
                        "text": Schema.string("the gateway's answer, where it is UTF-8").asSensitive,
                    ], required: ["status", "headers", "body"]))
        ) { request in
            let body = try RequestBody(request)
            let (method, path, headers) = (try body.string("method"), try body.string("path"), try body.headers())
            let bytes = try body.optionalString("body").map { text in
                guard let bytes = Base64.decode(text) else {
                    throw AgentError.badRequest(member: "body", fault: "is not base64")
                }
                return bytes
            }
            let answer =
                if let account = try await self.oauthAccount(of: request) {
                    try await account.call(method, path, headers: headers, body: bytes)
                } else {
                    try await self.account(of: request).session.call(
                        method: method, path: path, headers: headers, body: bytes)
                }
            var members: [String: JSON] = [
                "status": .integer(Int64(answer.status)), "body": .string(Base64.encode(answer.body)),
                "headers": .array(answer.headers.pairs.map { ["name": .string($0.name), "value": .string($0.value)] }),
            ]
            if let text = String(validating: answer.body, as: UTF8.self) { members["text"] = .string(text) }
            return .json(.object(members))
        }
    }

    private static var registrationSchema: Schema {
        .object(
            [
                "registration": .registration,
                "discarded": .integer("messages that waited for the broker, and were deleted"),
            ], required: ["registration", "discarded"])
    }

    private static var headersSchema: Schema {
        .array(
            of: .object(
                ["name": .string("of the field"), "value": Schema.string("of the field").asSensitive],
                required: ["name", "value"]),
            "fields of the head, in order")
    }
}

extension RequestBody {
    fileprivate func headers() throws(AgentError) -> HTTPHeaders {
        guard let list = self["headers"] else { return [:] }
        guard let elements = list.array else { throw .badRequest(member: "headers", fault: "is not an array") }
        var headers: HTTPHeaders = [:]
        for element in elements {
            guard let name = element["name"]?.string, let value = element["value"]?.string, element.object?.count == 2
            else {
                throw .badRequest(member: "headers", fault: "holds something else than {name, value}")
            }
            headers.add(name, value)
        }
        return headers
    }
}
