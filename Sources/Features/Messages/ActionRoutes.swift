import AgentCore
import Groundwork
import LocalAPI
import Messaging

/// Commands that messages start.
extension ActionsFeature {
    package func addActionRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/actions", needs: .read,
            .init(
                "The actions of the settings",
                answer: .object(all: [
                    "actions": .array(of: ActionSettings.answer.schema(), "in the order of the settings")
                ]))
        ) { _ in
            let statuses = try await self.broker.activeBrokerSession().inboxes?.statuses() ?? []
            let actions = self.host.settings.actions.map { action in
                ActionSettings.answer.json((action, statuses.first { $0.name == action.name }))
            }
            return .json(["actions": .array(actions)])
        }
        router.on(
            "GET", "/v1/actions/{name}", needs: .operate,
            .init(
                "How the command of an action ended recently, and the end of its output",
                answer: .object(all: [
                    "runs": .array(of: .named("ActionRun", ActionRun.schema()), "at most 20, the oldest first")
                ]))
        ) { request in
            let (name, inboxes) = try await self.actionInbox(of: request)
            return .json([
                "runs": .array(try await inboxes.runs(of: name).map { try JSON(parsing: $0, limit: .max) })
            ])
        }
        router.on(
            "POST", "/v1/actions/{name}/retry", needs: .operate,
            .init(
                "Pass the messages that were set aside to the command again",
                answer: .object(all: ["count": .integer("how many")]))
        ) { request in
            let (name, inboxes) = try await self.actionInbox(of: request)
            return .json(["count": .integer(Int64(try await inboxes.revive(name)))])
        }
    }

    private func actionInbox(of request: LocalRequest) async throws -> (String, InboxStore) {
        let name = request.parameters["name"] ?? ""
        guard host.settings.actions.contains(where: { $0.name == name }) else { throw AgentError.noSuchAction(name) }
        return (name, try await broker.activeInboxes(naming: name))
    }
}

extension ActionSettings {
    fileprivate static let answer: Answer<(action: ActionSettings, inbox: InboxStatus?)> = [
        "name": .of("name of the action, and of its inbox") { $0.action.name },
        "command": .schema(.array(of: .string("a word"), "the path and its arguments")) { $0.action.command },
        "waiting": .of("messages that its command has not handled") { $0.inbox?.unread ?? 0 },
        "dead": .of("messages that were set aside because the command failed with each too often") {
            $0.inbox?.dead ?? 0
        },
    ]
}
