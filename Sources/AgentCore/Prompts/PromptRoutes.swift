import Cryptography
import Groundwork
import LocalAPI
import Prompts

/// Questions to people, and their answers.
extension PromptsFeature {
    package func addRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/prompts", needs: .read,
            .init(
                "The pending prompts, oldest first",
                answer: .object(all: ["prompts": .array(of: .prompt, "the pending prompts")]))
        ) { _ in .json(["prompts": .array(self.host.prompts.prompts.map { .object($0.details) })]) }
        router.on(
            "GET", "/v1/prompts/{id}", needs: .read,
            .init("One prompt", path: ["id": .integer("number of the prompt")], answer: .prompt)
        ) { request in .json(.object(try self.host.prompts.prompt(try request.promptID()).details)) }
        router.on(
            "POST", "/v1/prompts/{id}", needs: .operate,
            .init(
                "Answer a prompt with one of text, choice, grant, password, code and refuse; the first answer counts",
                path: ["id": .integer("number of the prompt")],
                body: [
                    "text": Schema.string("for a password, PIN, passcode or question").asSensitive,
                    "choice": Schema.string("one of the choices").asSensitive,
                    "grant": .boolean("consent, or refuse it"),
                    "userName": .string("the user who logs in, with a password"),
                    "password": Schema.string("password of the user who logs in").asSensitive,
                    "code": Schema.string("an authorization code to log in with").asSensitive,
                    "verifier": Schema.string("PKCE verifier of the code's request, if it had one").asSensitive,
                    "redirectUri": .string("redirect URI of the code's request, if not the configured one"),
                    "refuse": .boolean("true: no answer will be given"),
                    "program": .string(
                        "program that answers on its own, such as a PIN pad; missing if a person answers"),
                ],
                answer: .object(all: [
                    "id": .integer("number of the prompt"),
                    "state": .string("its new state", choices: ["answered", "refused"]),
                ]))
        ) { request in
            let id = try request.promptID()
            let body = RequestBody(request)
            let answerer = request.answerer(program: try body.optionalString("program"))
            guard let answer = try Self.answer(in: body) else {
                try self.host.prompts.refuse(id, by: answerer, uid: request.peer.uid)
                return .json(["id": .integer(Int64(id)), "state": "refused"])
            }
            try self.host.prompts.answer(id, answer, by: answerer, uid: request.peer.uid)
            return .json(["id": .integer(Int64(id)), "state": "answered"])
        }
    }

    /// - Returns: `nil` for a refusal.
    private static func answer(in body: RequestBody) throws -> PromptAnswer? {
        let (text, choice) = (try body.optionalString("text"), try body.optionalString("choice"))
        let (grant, refuse) = (try body.optionalBool("grant"), try body.optionalBool("refuse"))
        let (password, code) = (try body.optionalString("password"), try body.optionalString("code"))
        let given = [text != nil, choice != nil, grant != nil, refuse != nil, password != nil, code != nil]
        guard given.count(where: { $0 }) == 1, refuse != false else {
            throw AgentError.badRequest(
                member: "the answer", fault: "must be exactly one of text, choice, grant, password, code and refuse")
        }
        if let password {
            return .credentials(userName: try body.string("userName"), password: SecretBytes(utf8: password))
        }
        if let code {
            return .code(
                SecretBytes(utf8: code), verifier: try body.optionalString("verifier").map { SecretBytes(utf8: $0) },
                redirectURI: try body.optionalString("redirectUri"))
        }
        if let text { return .text(SecretBytes(utf8: text)) }
        if let choice { return .choice(choice) }
        return grant == true ? .grant : nil
    }
}

extension LocalRequest {
    /// The program and the user that answer. The program's name is only its own claim; the user is certain.
    package func answerer(program: String?) -> Answerer {
        let user = UserName.of(peer.uid)
        return program.map { .program("\(String(DisplayText.clean($0).prefix(32))) of user \(user)") } ?? .user(user)
    }

    fileprivate func promptID() throws(AgentError) -> Int {
        guard let id = Int(parameters["id"] ?? "") else {
            throw AgentError.badRequest(member: "the number of the prompt", fault: "is not a number")
        }
        return id
    }
}

extension Schema {
    package static var prompt: Schema { named("Prompt", Prompt.answer.schema()) }

    /// A step of a prompt, as reported to the program that requested it.
    package static var promptStep: Schema {
        named("PromptStep", .object(PromptEvent.details, required: Prompt.answer.required))
    }
}
