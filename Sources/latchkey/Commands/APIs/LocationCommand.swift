import ArgumentParser
import Groundwork

struct LocationCommand: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "location",
        abstract: "Show the location of the board that calls send.",
        discussion: """
            Asks gpsd if the setting location.source is gpsd and its last answer is too old. Calls send the \
            location if the gateway's configuration has location_enabled. No other command shows it, nor does the log.
            """)
    @OptionGroup var options: ClientOptions

    func request() -> RouteRequest { .get("location", timeout: .seconds(150), saying: "looking for the location") }

    func text(of answer: JSON) -> String {
        let (latitude, longitude) = (answer["latitude"]?.number ?? 0, answer["longitude"]?.number ?? 0)
        let source = answer["source"]?.string ?? "?"
        let age = answer["ageSeconds"]?.integer.map { ", \($0) s old" } ?? ""
        return "\(latitude),\(longitude) (\(source)\(age))"
    }
}
