import ArgumentParser
import Groundwork

struct Devices: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the registered devices and the users logged in on them, or act on one.",
        discussion: "An action needs a device: latchkey-lab devices revoke-tokens 0f0c7a52-…")

    @OptionGroup var lab: AdminOptions

    enum Action: String, ExpressibleByArgument, CaseIterable {
        case list, activate, remove
        case revokeTokens = "revoke-tokens"
        case disableTokens = "disable-tokens"
    }

    @Argument(help: "list, activate, remove, revoke-tokens or disable-tokens.")
    var action = Action.list

    @Argument(help: "The device's mag-identifier.")
    var device: String?

    func validate() throws {
        guard (action == .list) == (device == nil) else {
            throw ValidationError(
                action == .list ? "list takes no device." : "\(action.rawValue) needs a mag-identifier.")
        }
    }

    func run() async throws {
        guard let device else {
            let table = Table("MAG-IDENTIFIER", "STATUS", "BROKER", "NAME", "LOGGED IN")
            return try await lab.showList("devices", called: "devices", table) { table, device in
                table.add(
                    device["mag_identifier"]?.string ?? "", device["status"]?.string ?? "",
                    device["connected"]?.bool == true ? "connected" : "", device["name"]?.string ?? "",
                    (device["logged_in"]?.array ?? []).compactMap(\.string).joined(separator: ", "))
            }
        }
        let answer =
            action == .remove
            ? try await lab.call("DELETE", "devices/\(device)")
            : try await lab.call("POST", "devices/\(device)/\(action.rawValue)", [:])
        lab.show(answer) { _ in "\(action.rawValue): done for \(device)" }
    }
}
