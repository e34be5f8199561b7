import Messaging

/// What an account says of the broker that the board's messages go to: where it is, how the board logs in there, and
/// under which topics.
package protocol BrokerAccess: Sendable {
    /// What the files of its messages are named after: another for each broker and identity.
    var scope: String { get }
    /// At least one; the others are tried while the first does not answer.
    var addresses: [BrokerAddress] { get }
    /// The way there.
    var way: BrokerWaySettings { get }
    /// Whether the broker reports errors under a topic of the board (MAG 9.2).
    var reportsErrors: Bool { get }
    /// Whether a person has stopped the account: then messages are kept, and nothing is connected.
    var isStopped: Bool { get }

    /// - Parameter device: what the board is called at this broker.
    func topics(of device: String) throws -> TopicNamespace

    /// What to log in with now; asked before each connect.
    func credentials(of device: String, at broker: BrokerAddress) async throws -> BrokerCredentials

    /// The broker has refused what it got last: something newer is needed.
    func credentialsWereRefused() async throws

    /// The broker has accepted a connection.
    func didConnect() async
}
