import AgentCore
import Gateway
import Groundwork
import LocalAPI

/// Enrollment, the device's registration and its uses.
extension GatewayFeature {
    package func addIdentityRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/enrollments", needs: .operate,
            .init(
                "Enroll at a gateway by its one-time URL, or with its configuration document, and register there",
                body: [
                    "url": .string("an enrollment URL; required without a configuration").asSensitive,
                    "configuration": .openObject("a gateway's msso_config.json").asSensitive,
                    "register": .boolean(
                        "false: the first user who logs in registers the board; default: gateway.registered_by"
                    ),
                ], answer: .gatewayStatus)
        ) { request in
            let body = RequestBody(request)
            let account = try request.accountName()
            // Checked before the URL is used, because it works only once. Whose it is, only the document says for sure.
            try await self.host.accounts.checkRoom(for: account, ofKind: Gateways.kind)
            let registers = try body.bool("register", default: self.host.settings.registersByItself)
            let gateway: GatewayConfiguration
            if let url = try body.optionalString("url") {
                let enrollment = try Enrollment(url: url)
                try await self.gateways.checkIsOnlyOne(account, at: enrollment.isLikely(of:))
                gateway = try await enrollment.fetch(
                    using: self.host.client, nameCheck: self.host.settings.gateway.nameCheck,
                    judgedAt: { [time = self.host.time] in time.now })
                killPoint("enrollment-answered")
            } else if let document = body["configuration"], document.object != nil {
                gateway = try GatewayConfiguration(parsing: document.bytes)
            } else {
                throw AgentError.badRequest(member: "the body", fault: "has neither url nor configuration")
            }
            let former = await self.gateways.table[account]?.gateway.identity
            var report = try await self.gateways.enroll(gateway, as: account, registers: registers).report(
                at: self.host.time.now)
            if let former, former != gateway.identity { report["switchedFrom"] = ["url": .string(former.baseURL)] }
            return .json(.object(report))
        }
        router.on("POST", "/v1/renew", needs: .operate, .init("Renew the device certificate now", answer: .certificate))
        { request in
            let session = try await self.gateways.account(of: request).session
            try await session.renew()
            return .json(GatewayStatus.certificateAnswer.json(try await session.status().certificate))
        }
        router.on(
            "POST", "/v1/deregister", needs: .operate,
            .init(
                "Remove the device at the gateway, then here, with the messages that wait",
                answer: DiscardedMessages.schema())
        ) { request in
            return .json(try await self.gateways.account(of: request).link.deregister().json)
        }
        router.on(
            "POST", "/v1/reset", needs: .operate,
            .init(
                "Forget the device here, with the messages that wait; the gateway is not notified",
                answer: DiscardedMessages.schema())
        ) { request in
            return .json(try await self.gateways.account(of: request).link.reset().json)
        }
    }
}
