@testable import AgentHomeAssistant

/// What the broker has kept under the topic of the board's announcement.
extension FuzzTarget {
    static let homeAssistant = [
        FuzzTarget(name: "home-assistant") { bytes throws(Violation) in
            let id = "latchkey-pump"
            guard let former = FormerEntities(parsing: bytes, of: id) else { return .refused }
            try require(former.platforms.count <= FormerEntities.entityLimit, "entities are bounded")
            try require(former.platforms.keys.allSatisfy(Entity.isKey), "every key is one of a board")
            let device = AnnouncedDevice(id: id, name: "", model: "", telemetryTopic: "t", availabilityTopic: nil)
            let next = DiscoveryMessage(device, [])
            let gone = former.gone(from: next.entities)
            try require(gone == former.platforms, "without entities all of them are gone")
            let removal = next.payload(removing: gone, limit: .max)
            try require(FormerEntities(parsing: removal, of: id) == former, "a removal names what is removed")
            return .accepted
        }
    ]
}
