import AgentCore
import AgentGateway
import Gateway
import Groundwork
import LocalAPI

/// Signed tokens that programs send themselves.
extension SigningFeature {
    package func addSignRoutes(to router: inout Router) {
        let members = SigningRequest.ofToken.merging(CallContent.members("signed")) { own, _ in own }
        router.on(
            "POST", "/v1/sign", needs: .operate,
            .init(
                "Make the signed token (JWS) that a call with sign would send; it is not sent",
                body: members.merging([
                    "as": .principal("whose name is the subject; by default the user's while one is logged in")
                ]
                ) {
                    own, _ in own
                },
                answer: .object(all: ["token": Schema.string("the token in the compact form of RFC 7515").asSensitive]))
        ) { request in
            let body = RequestBody(request)
            let content = try CallContent(body)
            let signing = try await self.keys.resolved(SigningRequest(body))
            let principal = try Principal(body.optionalString("as"))
            let session = try await self.gateways.account(of: request).session
            let token = try await session.signedToken(
                of: content.bytes, type: content.kind?.mediaType, by: signing, as: principal)
            return .json(["token": .string(token)])
        }
    }
}
