import AgentCore
import Gateway
import Groundwork
import LocalAPI
import Settings

/// What calls may say of where the board is, and which telephone number it has (MAG 6.5).
package struct LocationFeature: Feature {
    package static let source = Setting("location.source", preset: LocationFinder.Source.off.rawValue)
    package static let latitude = Setting("location.latitude", preset: 0.0)
    package static let longitude = Setting("location.longitude", preset: 0.0)
    package static let gpsd = Setting("location.gpsd", preset: "127.0.0.1:2947")
    package static let maxAgeSeconds = Setting("location.max_age_seconds", preset: 60)
    package static let waitSeconds = Setting("location.wait_seconds", preset: 10)

    package let host: Host
    package let finder: LocationFinder

    package init(_ host: Host) {
        self.host = host
        finder = LocationFinder(host.settings)
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("location") { table in
            table.choice(
                "source", &configuration[Self.source], LocationFinder.Source.allCases.map { ($0.rawValue, $0.rawValue) }
            )
            table.degrees("latitude", &configuration[Self.latitude], within: 90)
            table.degrees("longitude", &configuration[Self.longitude], within: 180)
            if configuration[Self.source] == LocationFinder.Source.fixed.rawValue,
                !(table.has("latitude") && table.has("longitude"))
            {
                table.note("source", "is fixed, and nothing says where", fix: "write latitude and longitude")
            }
            table.string("gpsd", &configuration[Self.gpsd], .gpsdAddress)
            table.integer("max_age_seconds", &configuration[Self.maxAgeSeconds], in: 1...86_400)
            table.integer("wait_seconds", &configuration[Self.waitSeconds], in: 1...120)
        }
    }

    package func addRoutes(to router: inout Router) {
        let finder = finder
        router.on(
            "GET", "/v1/location", needs: .operate,
            .init(
                "Where the board is: asks gpsd, if what it said last is too old",
                answer: Self.answer.schema())
        ) { _ in
            let found = try await finder.find()
            return .json(Self.answer.json((finder.source, found)))
        }
    }

    private static let answer: Answer<(source: LocationFinder.Source, found: LocationFinder.Found)> = [
        "source": .schema(sourceSchema) { $0.source.rawValue },
        "latitude": .schema(Schema.number("in degrees, north is positive").asSensitive) {
            .number($0.found.location.latitude) as JSON
        },
        "longitude": .schema(Schema.number("in degrees, east is positive").asSensitive) {
            .number($0.found.location.longitude) as JSON
        },
        "ageSeconds": .of("since gpsd said so") { $0.found.age?.components.seconds },
    ]

    package static var checks: [any HealthCheck] { [LocationCheck()] }

    package func examine(into state: inout AgentState) async throws {
        guard finder.source != .off else { return }
        var found: [String: JSON] = ["source": .string(finder.source.rawValue)]
        do {
            _ = try await finder.find(within: .seconds(5))
        } catch {
            found["fault"] = .object(Explanation(of: error).members)
        }
        state.found[LocationCheck.name] = .object(found)
    }

    private static var sourceSchema: Schema {
        .string("what says where the board is", choices: LocationFinder.Source.allCases.map(\.rawValue))
    }

    package static var statusMembers: [String: Schema] {
        [
            "location": .object(all: [
                "source": Self.sourceSchema,
                "isKnown": .boolean("whether the location is known now; gpsd is asked only for calls"),
            ])
        ]
    }

    package func status() async throws -> [String: JSON] {
        guard finder.source != .off else { return [:] }
        return [
            "location": [
                "source": .string(finder.source.rawValue), "isKnown": .bool(await finder.known != nil),
            ]
        ]
    }
}

extension SettingsTable {
    fileprivate mutating func degrees(_ key: String, _ place: inout Double, within limit: Double) {
        let preset = place
        defer { record(key, preset: .number(preset), value: .number(place)) }
        guard let degrees = number(key) else { return }
        guard (-limit...limit).contains(degrees) else {
            return note(key, "is \(degrees)", fix: "write degrees from \(-limit) to \(limit)")
        }
        place = degrees
    }
}
