import AgentCore
import Gateway
import Groundwork
import LocalAPI
import Settings

/// The table `[location]`.
package struct LocationSettings: TypedValue {
    package var source = LocationFinder.Source.off.rawValue
    package var latitude = 0.0
    package var longitude = 0.0
    /// Address and port.
    package var gpsd = "127.0.0.1:2947"
    package var maxAgeSeconds = 60
    package var waitSeconds = 10

    package init() {}
}

/// What calls may say of where the board is, and which telephone number it has (MAG 6.5).
package struct LocationFeature: Feature {
    package let host: Host
    package let finder: LocationFinder

    package init(_ host: Host) {
        self.host = host
        finder = LocationFinder(host.settings)
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("location") { table in
            table.choice(
                "source", &configuration[LocationSettings.self].source,
                LocationFinder.Source.allCases.map { ($0.rawValue, $0.rawValue) }
            )
            table.degrees("latitude", &configuration[LocationSettings.self].latitude, within: 90)
            table.degrees("longitude", &configuration[LocationSettings.self].longitude, within: 180)
            if configuration[LocationSettings.self].source == LocationFinder.Source.fixed.rawValue,
                !(table.has("latitude") && table.has("longitude"))
            {
                table.note(
                    "source", "is fixed, but latitude and longitude are missing", fix: "write latitude and longitude")
            }
            table.string("gpsd", &configuration[LocationSettings.self].gpsd, .gpsdAddress)
            table.integer("max_age_seconds", &configuration[LocationSettings.self].maxAgeSeconds, in: 1...86_400)
            table.integer("wait_seconds", &configuration[LocationSettings.self].waitSeconds, in: 1...120)
        }
    }

    package func addRoutes(to router: inout Router) {
        let finder = finder
        router.on(
            "GET", "/v1/location", needs: .operate,
            .init(
                "The board's location: asks gpsd if its last answer is too old",
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
        "ageSeconds": .of("age of gpsd's answer") { $0.found.age?.components.seconds },
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
        .string("source of the location", choices: LocationFinder.Source.allCases.map(\.rawValue))
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
