import AgentCore
import Cryptography
import Gateway
import Groundwork
import LocalAPI
import OAuth
import Proximity

/// Login by authorization code, in a browser or by another device that scans a code.
extension UsersFeature {
    func addBrowserLoginRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/login/browser", needs: .operate,
            .init(
                "Begin a login by authorization code: the address to open in a browser, and the providers",
                body: [
                    "provider": .string("one of the providers; without it the gateway's own login, or the only one"),
                    "page": .boolean("true: the gateway's own login page in place of a provider"),
                    "list": .boolean("true: nothing to open yet, only the providers to choose from"),
                    "loopbackPort": .integer(
                        "port of this machine where the caller waits for the browser; used if the redirect URI is on "
                            + "the loopback interface without a port", in: 1...65535),
                    "picture": .boolean("true: also a QR code of the address, for a phone"),
                    "scope": .logInScope,
                ], answer: Self.begunSchema)
        ) { request in
            let name = try request.accountName()
            return .json(
                try await self.host.accounts.ability(\.browsers, of: name).begin(RequestBody(request), at: name))
        }
        router.on(
            "POST", "/v1/login/browser/{id}", needs: .operate,
            .init(
                "Log in with the address that the browser was redirected to, with its code, or by asking the gateway once",
                body: [
                    "answer": Schema.string("the address, with code and state").asSensitive,
                    "code": Schema.string("the code alone, with its state").asSensitive,
                    "state": Schema.string("state that came with the code").asSensitive,
                    "poll": .boolean("true: ask whether the login was completed elsewhere"),
                    "hand": .boolean("with poll, true: return the code instead of logging in"),
                ], answer: Self.endedSchema)
        ) { request in
            let (name, id) = (try request.accountName(), request.parameters["id"] ?? "")
            return .json(
                try await self.host.accounts.ability(\.browsers, of: name).end(
                    id, RequestBody(request), at: name))
        }
        router.on(
            "DELETE", "/v1/login/browser/{id}", needs: .operate,
            .init("Cancel a login that was begun", answer: .object(all: ["canceled": .string("the login's id")]))
        ) { request in
            let (name, id) = (try request.accountName(), request.parameters["id"] ?? "")
            try await self.host.accounts.ability(\.browsers, of: name).cancel(id, at: name)
            return .json(["canceled": .string(id)])
        }
    }

    private static var begunSchema: Schema {
        .object(
            [
                "id": .string("identifier of this login"),
                "clientId": .string(
                    "client ID of the board, for a program that requests a code from the gateway itself"),
                "url": Schema.string("address to open; missing if only a list was requested").asSensitive,
                "provider": .string("provider that asks for the password, or page"),
                "providers": .array(
                    of: .object(all: [
                        "id": .string("its name"),
                        "url": Schema.string("address to open for this provider").asSensitive,
                    ]), "all providers that a browser may be sent to"),
                "takesPasswords": .boolean("whether the gateway offers login by its own passwords too"),
                "canPoll": .boolean("whether the gateway can be asked if the login was completed elsewhere"),
                "redirectUri": .string("final address of the browser"),
                "picture": .qrCode,
            ], required: ["id"])
    }

    private static var endedSchema: Schema {
        .object(
            Schema.userMembers.merging([
                "code": Schema.string("the returned code, which works once").asSensitive,
                "state": Schema.string("state that came with the code").asSensitive,
            ]) { own, _ in own }, required: ["loggedIn"])
    }
}
