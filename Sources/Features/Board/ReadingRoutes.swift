import AgentCore
import AgentMessages
import Board
import Groundwork
import LocalAPI
import Messaging

/// Readings that programs hand in.
extension BoardFeature {
    /// The most readings of one request.
    private static let limit = 64

    func addReadingRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/readings", needs: .publish,
            .init(
                "Report a program's own readings, to be shown and published like those of the board's sensors",
                body: [
                    "readings": .array(of: .handedReading, "readings with different names").notEmpty(atMost: Self.limit)
                ],
                required: ["readings"], status: 202,
                answer: .object(all: [
                    "accepted": .integer("how many"),
                    "published": .boolean(
                        "whether the broker will get them: false while telemetry is off or held back, or no account has a broker"
                    ),
                ]))
        ) { request in
            let readings = try self.readings(in: RequestBody(request))
            guard self.host.board.handed.take(readings) else {
                throw AgentError.badRequest(
                    member: "readings",
                    fault: "would exceed \(HandedReadings.limit) names; the agent forgets them when it restarts"
                )
            }
            let set = SampleSet(time: self.host.time.now, readings: readings)
            self.host.board.poller.samples.send(set)
            return .json(
                [
                    "accepted": .integer(Int64(readings.count)),
                    "published": .bool(try await self.broker.publish(set, by: request.publisher)),
                ], status: 202)
        }
    }

    private func readings(in body: RequestBody) throws(AgentError) -> [Reading] {
        let now = host.time.now
        var readings: [Reading] = []
        for json in body["readings"]?.array ?? [] {
            let reading = RequestBody(json: json)
            let name = try reading.string("name")
            guard SensorName.isValid(name) else {
                throw .badRequest(member: "name", fault: "is not \(SensorName.rule)")
            }
            guard !readings.contains(where: { $0.name == name }) else {
                throw .badRequest(member: "name", fault: "\(name) is used twice")
            }
            guard !host.board.definition.sensors.contains(where: { $0.name == name }) else {
                throw .badRequest(member: "name", fault: "\(name) is a sensor of the board's definition")
            }
            readings.append(
                Reading(
                    name: name, value: try Self.value(in: reading), unit: try Self.unit(in: reading),
                    quality: try Self.quality(in: reading), time: now))
        }
        return readings
    }

    private static func quality(in reading: RequestBody) throws(AgentError) -> Quality {
        let isMissing = reading["value"] == .null
        guard let text = try reading.optionalString("quality") else { return isMissing ? .bad : .good }
        guard let quality = Quality(rawValue: text), (quality == .bad) == isMissing else {
            throw .badRequest(member: "quality", fault: "must be bad if there is no value, and only then")
        }
        return quality
    }

    private static func value(in reading: RequestBody) throws(AgentError) -> Double? {
        guard let value = reading["value"], value != .null else { return nil }
        guard let number = value.number, number.isFinite else {
            throw .badRequest(member: "value", fault: "is not a number")
        }
        return number
    }

    private static func unit(in reading: RequestBody) throws(AgentError) -> SenMLUnit {
        let text = try reading.optionalString("unit") ?? SenMLUnit.count.rawValue
        guard let unit = SenMLUnit(rawValue: text) else {
            throw .badRequest(
                member: "unit", fault: "is not one of \(SenMLUnit.allCases.map(\.rawValue).joined(separator: " "))")
        }
        return unit
    }
}

extension Schema {
    fileprivate static var handedReading: Schema {
        .object(
            [
                "name": .string("\(SensorName.rule), but not the name of a sensor of the board definition"),
                "value": .number("the value in the unit; null if there is none").orNull,
                "unit": .string("a SenML unit, RFC 8428 section 12.1; count by default"),
                "quality": .string(
                    "how reliable it is; good by default, and bad without a value",
                    choices: ["good", "uncertain", "bad"]),
            ], required: ["name", "value"])
    }
}
