import AgentCertificates
import AgentCore
import AgentGateway
import Gateway
import Groundwork
import HTTPClient
import LocalAPI
import Prompts

/// Calls of APIs for local programs.
extension CallsFeature {
    package func addCallRoutes(to router: inout Router) {
        let head: [String: Schema] = [
            "status": .integer("HTTP status of the answer", in: 100...599),
            "headers": .pairs("header fields, in order"),
            "as": .principal("whose token was used, at a gateway"),
            "error": .object(
                Schema.explanation, required: Schema.requiredOfExplanation,
                "What the x-ca-err number of an unsuccessful answer means"),
        ]
        let required: Set = ["status", "headers"]
        let whole: [String: Schema] = [
            "body": Schema.base64("the answer's body").asSensitive,
            "text": Schema.string("the answer's body, if it is UTF-8").asSensitive,
            "json": Schema.anything("the answer's body, if its media type is JSON").asSensitive,
        ]
        router.on(
            "POST", "/v1/call", needs: .call,
            .init(
                "Call an API of the gateway or of a configured host, in the name of the user or the device",
                body: GatewayCall.members, required: ["method", "path"],
                answer: .object(head.merging(whole) { own, _ in own }, required: required.union(["body"])))
        ) { request in
            let (asked, name) = (try self.asked(by: request), try request.accountName())
            return try await self.host.accounts.ability(\.calls, of: name).answer(asked, at: name, for: request)
        }
        router.on(
            "POST", "/v1/call/stream", needs: .call,
            .init(
                "Make a call whose body or answer may have any size: both are sent in pieces",
                body: GatewayCall.members.merging(CallRequest.uploadMember) { own, _ in own },
                required: ["method", "path"],
                events: [
                    "upload": .object(all: ["id": .string("ID under which the body is sent, from its first byte")]),
                    "prompt.*": .promptStep,
                    "response": .object(head, required: required),
                    "data": .object(all: [
                        "body": Schema.base64("a piece of the answer's body; raw bytes in frames").asSensitive
                    ]),
                    "end": .object(all: ["bytes": .integer("length of the answer's body")]),
                ], hasFrames: true)
        ) { request in
            let (asked, name) = (try self.asked(by: request), try request.accountName())
            return try await self.host.accounts.ability(\.calls, of: name).stream(asked, at: name, for: request)
        }
    }

    package func addUploadRoute(to router: inout Router) {
        router.on(
            "POST", "/v1/call/uploads/{id}", needs: .call,
            .init(
                "The next bytes of the body of a call, at most 1 MiB; answered when there is room for more",
                path: ["id": .string("ID from the call's event upload")], text: "the raw bytes",
                answer: .object(all: ["taken": .boolean("false: the call accepts no more; its stream reports why")]))
        ) { request in
            try self.authorizer.admit(request)
            guard let feed = self.uploads.feed(request.parameters["id"] ?? "", of: request.peer.uid) else {
                return .json(["taken": false])
            }
            return .json(["taken": .bool(await feed.send(request.body))])
        }
    }
}

/// Calls of APIs, and tokens, at accounts at gateways.
package struct GatewayCalls: AccountCalls {
    package let gateways: GatewayAccounts
    package let authorizer: CallAuthorizer
    package let certificates: CertificatesFeature
    package let uploads: UploadDesk

    private var keys: SigningKeys { SigningKeys(host: gateways.host) }
    private var prompts: PromptDesk { gateways.host.prompts }

    package func answer(_ asked: CallRequest, at name: AccountName, for request: LocalRequest) async throws
        -> LocalResponse
    {
        let call = try await GatewayCall(asked, keys: keys)
        let permit = try await permit(request, call)
        return try await permit.run(of: authorizer.book) {
            let call = try await self.showingCertificate(call, at: permit.link)
            let (response, principal) = try await self.answer(to: call, by: permit, for: request.peer.uid)
            try asked.checkType(ofAnswer: response.status, response.headers, isEmpty: response.body.isEmpty)
            let refusal = principal == nil ? nil : CallAnswer(response).meaning
            return .json(.object(response.wholeReport(as: principal?.rawValue, refusal)))
        }
    }

    package func stream(_ asked: CallRequest, at name: AccountName, for request: LocalRequest) async throws
        -> LocalResponse
    {
        let call = try await GatewayCall(asked, keys: keys)
        let permit = try await permit(request, call)
        let exchange = StreamedCall(
            asked: try await showingCertificate(call, at: permit.link), permit: permit, uploads: uploads,
            prompts: prompts, uid: request.peer.uid)
        return .stream { [grants = authorizer.book] writer in
            try await permit.run(of: grants) { try await exchange.run(writer) }
        }
    }

    /// - Returns: the answer, and in whose name it was asked for; `nil` for a package call.
    private func answer(
        to asked: GatewayCall, by permit: CallAuthorization, for uid: UInt32
    ) async throws -> (HTTPResponse, Principal?) {
        let session = permit.link.session
        guard !asked.call.isPublic else { return (try await session.call(asked.call), nil) }
        return try await session.acting(as: permit.principal, loggedInAt: permit.loggedInAt) { principal in
            var call = asked.call
            (call.principal, call.loggedInAt) = (principal, permit.loggedInAt)
            call.passwordAsker = asked.asker(at: prompts, uid: uid)
            return (try await session.call(call), principal)
        }
    }
}

/// A call whose body and answer pass through the agent in pieces: little of them is in memory at any time.
package struct StreamedCall: Sendable {
    package let asked: GatewayCall
    /// In whose name, and at which gateway.
    package let permit: CallAuthorization
    package let uploads: UploadDesk
    package let prompts: PromptDesk
    /// The user who calls, and may send the body.
    package let uid: UInt32

    private var session: GatewaySession { permit.link.session }

    package func run(_ writer: StreamWriter) async throws {
        let number = uploads.newID()
        defer { uploads.close(number) }
        let (answer, principal): (CallAnswer, Principal?)
        if asked.call.isPublic {
            (answer, principal) = (try await session.open(feeding(asked.call, writer, number)), nil)
        } else {
            (answer, principal) = try await protected(writer, number)
        }
        try asked.request.checkType(ofAnswer: answer.status, answer.headers)
        let head = HTTPResponse.report(answer.status, answer.headers, answer.meaning, as: principal?.rawValue)
        guard await writer.send(LocalEvent(name: "response", data: .object(head))) else { return }
        var count = 0
        try await answer.forEachPiece { piece in
            count += piece.count
            return await writer.send(piece: piece)
        }
        _ = await writer.send(LocalEvent(name: "end", data: ["bytes": .integer(Int64(count))]))
    }

    private func protected(_ writer: StreamWriter, _ number: String) async throws -> (CallAnswer, Principal?) {
        try await session.acting(as: permit.principal, loggedInAt: permit.loggedInAt) { principal in
            var call = feeding(asked.call, writer, number)
            (call.principal, call.loggedInAt) = (principal, permit.loggedInAt)
            call.passwordAsker = asked.asker(at: prompts, uid: uid) { event in
                let report = event.report
                _ = await writer.send(LocalEvent(name: report.name, data: .object(report.fields)))
            }
            return (try await session.open(call), principal)
        }
    }

    /// The call with its body, where that follows in pieces.
    private func feeding(_ call: APICall, _ writer: StreamWriter, _ number: String) -> APICall {
        guard let length = asked.request.uploadLength else { return call }
        var call = call
        call.feed = { [uploads, uid] in
            let feed = BodyFeed(length: length)
            let id = uploads.open(feed, of: number, for: uid)
            guard await writer.send(LocalEvent(name: "upload", data: ["id": .string(id)])) else {
                throw CancellationError()
            }
            return feed
        }
        return call
    }
}

extension CallAnswer {
    /// What it means that is not a success.
    fileprivate var meaning: (any Explained)? { passwordDemand ?? refusal }
}

extension GatewayCall {
    /// Who is asked for one-time passwords; `nil` if the settings say who.
    fileprivate func asker(
        at prompts: PromptDesk, uid: UInt32,
        reporting report: @escaping @Sendable (PromptEvent) async -> Void = { _ in }
    ) -> OneTimePasswordPrompts? {
        request.prompted.map {
            OneTimePasswordPrompts(
                prompts: prompts, patience: OneTimePasswordPrompts.patienceOfPrograms,
                answerers: $0 == .user ? .user(uid: uid) : .operators, report: report)
        }
    }
}
