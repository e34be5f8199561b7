import AgentCore
import Board
import Groundwork

extension Schema {
    static var reading: Schema { named("Reading", Reading.schema()) }

    static var readings: Schema {
        Schema.object(all: ["readings": .array(of: reading, "one for each sensor")])
    }
}
