import ArgumentParser
import Groundwork

struct Page: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the link to the admin page of the running lab.",
        discussion: "The link contains the lab's admin token: anyone who has it has an administrator's rights.")

    @OptionGroup var lab: AdminOptions

    func run() async throws {
        // Lets the lab check that the token is its own.
        _ = try await lab.call("GET", "state")
        let link = "\(try lab.address())/#\(try lab.token())"
        lab.show(["url": .string(link)]) { _ in link }
    }
}
