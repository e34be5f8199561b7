import AgentCore
import Groundwork
import LocalAPI
import Messaging

/// Commands that messages start.
extension ActionsFeature {
    package func addActionRoutes(to router: inout Router) {
        let action = Schema.object(
            [
                "name": .string("name of the action, and of its inbox"),
                "command": .array(of: .string("a word"), "the path and its arguments"),
                "waiting": .integer("messages that its command has not handled"),
                "dead": .integer("messages that were set aside because the command failed with each too often"),
            ], required: ["name", "command", "waiting", "dead"])
        router.on(
            "GET", "/v1/actions", needs: .read,
            .init(
                "The actions of the settings",
                answer: .object(["actions": .array(of: action, "in the order of the settings")], required: ["actions"]))
        ) { _ in
            let statuses = try await self.broker.activeStation().inboxes?.statuses() ?? []
            let actions = self.host.settings.actions.map { action -> JSON in
                let status = statuses.first { $0.name == action.name }
                return [
                    "name": .string(action.name), "command": .array(action.command.map(JSON.string)),
                    "waiting": .integer(Int64(status?.unread ?? 0)), "dead": .integer(Int64(status?.dead ?? 0)),
                ]
            }
            return .json(["actions": .array(actions)])
        }
        router.on(
            "GET", "/v1/actions/{name}", needs: .operate,
            .init(
                "How the command of an action ended recently, and the end of its output",
                answer: .object(["runs": .array(of: .actionRun, "at most 20, the oldest first")], required: ["runs"]))
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
                answer: .object(["count": .integer("how many")], required: ["count"]))
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

extension Schema {
    fileprivate static var actionRun: Schema {
        .named(
            "ActionRun",
            .object(
                [
                    "id": .integer("number of the message"), "topic": .string("the whole topic"),
                    "attempt": .integer("number of the attempt with this message, from 1"),
                    "began": .time("when it was started"),
                    "milliseconds": .integer("how long it ran"),
                    "status": .integer("exit status, if it has one"), "signal": .integer("signal that ended it"),
                    "timedOut": .boolean("whether it was ended at its time limit"),
                    "refusal": .string("why it was not started"),
                    "output": .string("the end of its standard output and standard error"),
                    "omitted": .integer("bytes of output before that"),
                    "verdict": .string("outcome for the message", choices: ["done", "again", "dead"]),
                ],
                required: [
                    "id", "topic", "attempt", "began", "milliseconds", "timedOut", "output", "omitted", "verdict",
                ]))
    }
}
