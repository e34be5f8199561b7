import AgentCore
import AgentMessages
import Board
import Messaging

/// The board as Home Assistant sees it: where its messages go, and which entities it has.
struct AnnouncedBoard {
    let device: AnnouncedDevice
    /// Of the discovery message.
    let topic: Topic
    /// Where Home Assistant says that it is there.
    let statusTopic: Topic
    let buttonTopic: Topic
    let ledTopic: Topic
    let ledCommandTopic: Topic

    init(_ host: Host, at brokerSession: BrokerSession) throws(MessagingError) {
        let (settings, topics) = (host.settings, brokerSession.topics)
        let prefix = settings.homeAssistant.discoveryPrefix
        let id = AnnouncedDevice.id(of: topics.deviceID)
        topic = try Topic("\(prefix)/device/\(id)/config")
        statusTopic = try Topic("\(prefix)/status")
        buttonTopic = try topics.custom("button")
        ledTopic = try topics.custom("led")
        ledCommandTopic = try topics.custom("led/set")
        device = AnnouncedDevice(
            id: id, name: host.deviceName, model: host.board.model ?? host.board.definition.title,
            telemetryTopic: brokerSession.telemetryTopic.name,
            // One that the broker does not keep would be missing whenever Home Assistant starts.
            availabilityTopic: settings.broker.presence == .retained
                ? try topics.custom(settings.broker.statusTopic).name : nil)
    }

    /// The topics whose messages the broker keeps.
    func kept(hasLED: Bool) -> [Topic] { hasLED ? [topic, ledTopic] : [topic] }

    /// The button and the LED first, which have room in every message.
    func entities(of board: BoardDefinition, _ present: PresentSensors, sendsReadings: Bool) -> [Entity] {
        var entities: [Entity] = []
        if board.button != nil { entities.append(Entity(buttonAt: buttonTopic.name)) }
        if board.led != nil { entities.append(Entity(ledAt: (state: ledTopic.name, command: ledCommandTopic.name))) }
        guard sendsReadings else { return entities }
        entities += board.sensors.filter { !$0.isOptional || present.responded.contains($0.name) }.map { Entity($0) }
        entities += present.handed.map { Entity(handed: $0.name, $0.unit) }
        return entities
    }
}

/// Sensors that may or may not be there, which is known only at run time.
struct PresentSensors: Equatable {
    struct Handed: Equatable {
        let name: String
        let unit: SenMLUnit
    }

    /// Names of the sensors that have responded, or did before: of the optional ones these alone are there.
    let responded: Set<String>
    /// What programs hand in.
    let handed: [Handed]
}

/// What Home Assistant asks of the LED.
enum LEDCommand: String {
    case on = "ON"
    case off = "OFF"

    /// Anything but one of both is none.
    init?(_ payload: [UInt8]) {
        guard payload.count <= 3 else { return nil }
        self.init(rawValue: String(decoding: payload, as: UTF8.self))
    }

    var pattern: LEDPattern { self == .on ? .on : .off }
}

/// How often Home Assistant can ask for the announcement: a few times at once, as after restarts in a row.
struct AnnouncementAllowance {
    static let most = 4
    static let window = Duration.seconds(60)

    private var times: [ContinuousClock.Instant] = []

    mutating func takes(at now: ContinuousClock.Instant) -> Bool {
        times.removeAll { now - $0 >= Self.window }
        guard times.count < Self.most else { return false }
        times.append(now)
        return true
    }
}
