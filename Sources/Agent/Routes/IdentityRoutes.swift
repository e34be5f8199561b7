import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient
import LocalAPI

/// Enrollment, the device's registration and what it is good for.
extension Agent {
    nonisolated func addIdentityRoutes(to router: inout Router) {
        router.on("POST", "/v1/enrollments", needs: .operate, .init(
            "Enroll at a gateway by its one-time URL, or with its configuration document, and register there",
            body: [
                "url": "string, an enrollment URL", "configuration": "object, a gateway's msso_config.json",
                "register": "boolean; false: whoever logs in registers the board",
            ])
        ) { request in
            let body = try RequestBody(request.body)
            let gateway: GatewayConfiguration
            if let url = try body.optionalString("url") {
                gateway = try await Enrollment(url: url).fetch(using: self.client, judgedAt: { [time = self.time] in time.now })
                killPoint("enrollment-answered")
            } else if let document = body["configuration"], document.object != nil {
                gateway = try GatewayConfiguration(parsing: document.bytes)
            } else {
                throw AgentError.badRequest(member: "the body", fault: "has neither url nor configuration")
            }
            let registers = try body.bool("register", default: true)
            let former = await self.link?.gateway.identity
            var report = try await self.enroll(gateway, registers: registers).report(at: self.time.now)
            if let former, former != gateway.identity { report["switchedFrom"] = ["url": .string(former.baseURL)] }
            return .json(.object(report))
        }
        router.on("GET", "/v1/token", needs: .operate, .init("A valid access token of the device")) { _ in
            let token = try await self.activeLink().session.accessToken()
            return .json([
                "accessToken": .string(token.value.exposedText()), "expiresAt": .string(token.expiresAt.formatted(.iso8601)),
                "scope": .string(token.scope.sorted().joined(separator: " ")),
            ])
        }
        router.on("POST", "/v1/renew", needs: .operate, .init("Renew the device certificate now")) { _ in
            let session = try await self.activeLink().session
            try await session.renew()
            return .json(try await session.status().report(at: self.time.now)["certificate"] ?? [:])
        }
        router.on("POST", "/v1/deregister", needs: .operate, .init("Remove the device at the gateway, then here; discards the messages that wait")) { _ in
            let count = try await self.activeLink().deregister()
            return .json(["registration": ["state": "unregistered"], "discarded": .integer(Int64(count))])
        }
        router.on("POST", "/v1/reset", needs: .operate, .init("Forget the device here, with the messages that wait; the gateway is not told")) { _ in
            let count = try await self.activeLink().reset()
            return .json(["registration": ["state": "unregistered"], "discarded": .integer(Int64(count))])
        }
        router.on("POST", "/v1/call", needs: .operate, .init(
            "Call a protected API of the gateway as this device",
            body: [
                "method": "string", "path": "string, below the gateway, or a URL on a configured host",
                "headers": "array of {name, value}", "body": "string, base64",
            ])
        ) { request in
            let body = try RequestBody(request.body)
            let answer = try await self.activeLink().session.call(
                method: try body.string("method"), path: try body.string("path"), headers: try body.headers(),
                body: try body.optionalString("body").map { text in
                    guard let bytes = Base64.decode(text) else { throw AgentError.badRequest(member: "body", fault: "is not base64") }
                    return bytes
                })
            return .json([
                "status": .integer(Int64(answer.status)), "body": .string(Base64.encode(answer.body)),
                "headers": .array(answer.headers.pairs.map { ["name": .string($0.name), "value": .string($0.value)] }),
            ])
        }
    }
}

extension RequestBody {
    fileprivate func headers() throws(AgentError) -> HTTPHeaders {
        guard let list = self["headers"] else { return [:] }
        guard let elements = list.array else { throw .badRequest(member: "headers", fault: "is no array") }
        var headers: HTTPHeaders = [:]
        for element in elements {
            guard let name = element["name"]?.string, let value = element["value"]?.string else {
                throw .badRequest(member: "headers", fault: "holds something else than {name, value}")
            }
            headers.add(name, value)
        }
        return headers
    }
}
