import ArgumentParser
import Groundwork
import LocalAPI

struct LocationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "location",
        abstract: "Show the location of the board that calls send.",
        discussion: """
            Asks gpsd if the setting location.source is gpsd and its last answer is too old. Calls send the \
            location if the gateway's configuration has location_enabled. No other command shows it, nor does the log.
            """)
    @OptionGroup var options: ClientOptions

    func run() async throws {
        options.show(
            try await LongWork.say("looking for the location") {
                try await options.client.get("/v1/location", timeout: .seconds(150))
            }
        ) { answer in
            let (latitude, longitude) = (answer["latitude"]?.number ?? 0, answer["longitude"]?.number ?? 0)
            let source = answer["source"]?.string ?? "?"
            let age = answer["ageSeconds"]?.integer.map { ", \($0) s old" } ?? ""
            return "\(latitude),\(longitude) (\(source)\(age))"
        }
    }
}
