import AgentCore
import AgentGateway
import AgentNearby
import Gateway
import Groundwork
import LocalAPI
import Proximity

/// Login by credentials that a program got elsewhere, and the code that is shown to devices nearby.
extension UsersFeature {
    func addLoginRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/login/code", needs: .operate,
            .init(
                "Log in by an authorization code that the caller obtained; registers a board that is not registered",
                body: [
                    "code": Schema.string("it works once").asSensitive,
                    "verifier": Schema.string("PKCE verifier of the code's request, if it had one").asSensitive,
                    "redirectUri": .string("redirect URI of the code's request, if not the configured one"),
                ], required: ["code"], answer: .user)
        ) { request in
            let body = RequestBody(request)
            let code = try HandedCode(
                try body.string("code"), verifier: try body.optionalString("verifier"),
                redirectURI: try body.optionalString("redirectUri"))
            return .json(
                try await self.gateways.account(of: request).session.logIn(with: code).json(at: self.host.time.now))
        }
        router.on(
            "POST", "/v1/login/jwt", needs: .operate,
            .init(
                "Log in by a JWT from outside, such as an id_token; registers a board that is not registered",
                body: [
                    "token": Schema.string("token that the gateway accepts for a user").asSensitive,
                    "type": .string("its grant type, a URI; by default that of a JWT"),
                ], required: ["token"], answer: .user)
        ) { request in
            let body = RequestBody(request)
            let assertion = try UserAssertion(try body.string("token"), type: try body.optionalString("type"))
            return .json(
                try await self.gateways.account(of: request).session.logIn(with: assertion).json(at: self.host.time.now)
            )
        }
        router.on(
            "GET", "/v1/login/nearby", needs: .operate,
            .init(
                "Whether the board shows a code to log in with, and which one",
                answer: .object(
                    ["isShown": .boolean("whether one is shown now"), "code": .qrCode], required: ["isShown"]))
        ) { _ in
            guard let text = await self.nearby.logIn.shownCode else { return .json(["isShown": false]) }
            return .json(["isShown": true, "code": try QRCode(text).json(of: text)])
        }
        router.on(
            "DELETE", "/v1/login/nearby", needs: .operate,
            .init(
                "End the login with the code that is shown",
                answer: .object(all: ["ended": .boolean("whether one was shown")]))
        ) { _ in .json(["ended": .bool(await self.nearby.logIn.stopShowing())]) }
    }
}
