import ArgumentParser
import Groundwork

struct Send: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send a message in an envelope to a user, a device, a group or the application.",
        discussion: """
            The envelope names the sender: this device, or with --as user the logged-in user. The topic is below the \
            receiver's own; without --topic it is the receiver's identifier. A group's members get the message one by \
            one where they are named with --member, or with --each-member, which asks the gateway's directory for \
            them; otherwise it goes to the group's topic.

              $ latchkey send --user alice --topic door 'the bell rang'
              $ latchkey send --user alice --file door.jpg
              $ latchkey send --as user --group household 'dinner'
              $ latchkey send --group fitters --each-member 'hall 3'
            """)

    enum SenderType: String, ExpressibleByArgument, CaseIterable { case device, user, application }

    @Option(help: "Receiver: the name of a user.") var user: String?
    @Option(help: "Receiver: the identifier of a device.") var device: String?
    @Option(help: "Receiver: the identifier of a group.") var group: String?
    @Flag(help: "Receiver: every client of this application.") var application = false
    @Option(help: ArgumentHelp("A member of the group; can be repeated.", valueName: "user")) var member: [String] = []
    @Flag(help: "Send to each member that the gateway's directory lists for the group, given by its name there.")
    var eachMember = false
    @Flag(help: "Reach the user in any application, not in this one.") var acrossApplications = false
    @Option(help: "Topic below the receiver's own; by default the receiver's identifier.") var topic: String?
    @Option(help: "MIME type; that of the file by its name, otherwise text/plain.") var contentType: String?
    @Option(help: "Send this file.") var file: String?
    @Option(help: "Quality of service: 0, 1 or 2, which is sent as 1.") var qos = 2
    @Flag(help: "Have the broker keep it for those who subscribe later.") var retain = false
    @Option(name: .customLong("from"), help: "Sender in the envelope: device, user or application.")
    var sender: SenderType?
    @Option(help: ArgumentHelp("Name this group as the sender.", valueName: "group")) var fromGroup: String?
    @OptionGroup var speaker: SpeakerOption
    @Argument(help: "The message; without it and without --file, standard input.") var message: String?
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard [user != nil, device != nil, group != nil, application].count(where: \.self) == 1 else {
            throw ValidationError("give one receiver: --user, --device, --group or --application")
        }
        guard member.isEmpty || group != nil else { throw ValidationError("--member requires --group") }
        guard !eachMember || group != nil && member.isEmpty else {
            throw ValidationError("--each-member requires --group and cannot be used with --member")
        }
        guard !acrossApplications || user != nil else {
            throw ValidationError("--across-applications requires --user")
        }
        guard (0...2).contains(qos) else { throw ValidationError("--qos is 0, 1 or 2, not \(qos)") }
        guard message == nil || file == nil else { throw ValidationError("give the message or --file, not both") }
        guard sender == nil || fromGroup == nil else { throw ValidationError("give one of --from and --from-group") }
    }

    func request() async throws -> RouteRequest {
        let payload: [UInt8] =
            if let message {
                Array(message.utf8)
            } else if let file {
                try Input.file(file, limit: Input.payloadLimit)
            } else {
                try Input.typed("the message", limit: Input.payloadLimit)
            }
        let type = contentType ?? file.map(FileType.contentType(ofFile:)) ?? "text/plain"
        let known = eachMember ? try await GroupMembers(of: group ?? "", by: options.client) : nil
        let members = known?.users ?? member
        return .post(
            speaker.route("send"),
            [
                "contentType": .string(type), "payload": .string(Base64.encode(payload)), "encoding": "base64",
                "qos": .integer(Int64(qos)), "retain": .bool(retain), "user": user.map(JSON.string),
                "device": device.map(JSON.string), "group": (known?.group ?? group).map(JSON.string),
                "topic": topic.map(JSON.string), "application": application ? true : nil,
                "acrossApplications": acrossApplications ? true : nil,
                "members": members.isEmpty ? nil : .array(members.map(JSON.string)),
                "sender": fromGroup == nil ? sender.map { .string($0.rawValue) } : "group",
                "senderGroup": fromGroup.map(JSON.string),
            ])
    }

    func text(of answer: JSON) -> String {
        let count = answer["count"]?.integer ?? 1
        let id = answer["id"]?.integer ?? 0
        return count > 1 ? "accepted as messages \(id) to \(id + count - 1)" : "accepted as message \(id)"
    }
}
