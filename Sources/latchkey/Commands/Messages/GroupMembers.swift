import Groundwork
import LocalAPI

/// The members that the gateway's directory has of a group, for messages to each of them (MAG 9.2).
struct GroupMembers {
    /// The identifier of the group.
    let group: String
    /// The members' identifiers, which are their names in topics.
    let users: [String]

    /// Asks the directory of the account whose broker takes messages.
    ///
    /// - Parameter name: the group's, in the directory.
    /// - Throws: ``InputError/groupWithoutMembers(_:)``, `LocalAPIError`
    init(of name: String, by client: LocalClient) async throws {
        let accounts = try await client.get("/v1/accounts")["accounts"]?.array ?? []
        let account = accounts.first { $0["usesBroker"]?.bool == true }?["name"]?.string
        let path = ChosenAccount(name: account).path("groups/\(name.segment)")
        let found = try await client.get(path, timeout: .seconds(90))
        group = found["id"]?.string ?? name
        // A group may have groups among its members (RFC 7643 section 4.2), which have no topic of a user.
        users = (found["members"]?.array ?? []).filter { $0["type"]?.string?.lowercased() != "group" }
            .compactMap { $0["value"]?.string }
        guard !users.isEmpty else { throw InputError.groupWithoutMembers(name) }
    }
}
