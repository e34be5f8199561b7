import AgentCore
import Gateway
import Groundwork
import LocalAPI

/// A call of an API at a gateway, as a request of the local API states it.
package struct GatewayCall {
    package let request: CallRequest
    package var call: APICall
    /// Whose token is used; `nil` where the request does not say.
    package let principal: Principal?

    package static var members: [String: Schema] {
        CallRequest.members.merging(["sign": SigningRequest.member]) { own, _ in own }
    }

    /// - Throws: ``AgentError/badRequest(member:fault:)``, `GatewayError.unsignable`, what the vault throws
    package init(_ request: CallRequest, keys: SigningKeys) async throws {
        self.request = request
        principal = try Principal(request.principal)
        var call = APICall(request.method, request.path)
        (call.headers, call.body, call.scope) = (request.headers, request.body, request.scope)
        (call.timeout, call.isPublic) = (request.timeout, request.isPublic)
        if let signing = try SigningRequest(request.signing) { call.signing = try await keys.resolved(signing) }
        self.call = call
    }
}
