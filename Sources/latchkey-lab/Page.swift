import ArgumentParser
import Groundwork

struct Page: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the link to the admin page of the running lab.",
        discussion: "The link holds the lab's admin token: whoever has it can do what an administrator can.")

    @OptionGroup var lab: AdminOptions

    func run() async throws {
        // Whether it is the running lab's token, the lab has to say.
        _ = try await lab.call("GET", "state")
        let link = "\(try lab.address())/#\(try lab.token())"
        lab.show(["url": .string(link)]) { _ in link }
    }
}
