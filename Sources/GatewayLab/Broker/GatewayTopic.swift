/// The addressee of a topic of MAG 9.2.
enum GatewayTopic: Equatable {
    case device(String)
    /// Whether a device is online; published by the device itself.
    case deviceStatus(String)
    case user(String)
    case group(String)
    case application

    /// Whether only the broker publishes there: its reports of errors.
    static func isError(_ topic: String) -> Bool { topic.split(separator: "/").last == "error" }

    /// Reads a topic or a filter that lies below one device, user or group, or the application. Wildcards are only
    /// allowed below that, so that a filter never matches another's messages.
    ///
    /// - Parameter prefix: the gateway's, empty or a bare word.
    /// - Returns: `nil` for everything else, including `$SYS` and shared subscriptions.
    init?(_ topic: String, prefix: String) {
        let root = prefix.isEmpty ? ["", "2.0"] : ["", prefix, "2.0"]
        var levels = topic.split(separator: "/", omittingEmptySubsequences: false).map(String.init)[...]
        guard levels.starts(with: root) else { return nil }
        levels = levels.dropFirst(root.count)
        // A user's topics across clients and within one are the same to the lab, which has one set of users.
        let isWithinClient = levels.first == "client"
        if isWithinClient { levels = levels.dropFirst() }
        if isWithinClient, levels.count >= 2, levels.first == "custom" {
            self = .application
            return
        }
        let path = Array(levels)
        guard path.count >= 3, let id = path.dropFirst().first, !id.isEmpty, !id.contains("+"), !id.contains("#") else {
            return nil
        }
        switch (path[0], path[2], path.count) {
        case ("users", "custom", 4...): self = .user(id)
        case ("groups", "custom", 4...) where isWithinClient: self = .group(id)
        case ("devices", "custom", 4...) where isWithinClient: self = .device(id)
        case ("devices", "status", 3) where isWithinClient: self = .deviceStatus(id)
        default: return nil
        }
    }
}
