import AgentCore
import Groundwork
import LocalAPI

/// The console's page, as files for ``ConsoleServer``. It loads nothing from elsewhere and has no inline script or
/// style. It contains nothing of the board: its script asks the routes of the local API for that.
enum ConsolePage {
    /// The largest style sheet of the settings, in bytes.
    static let styleSheetLimit = 64 << 10

    /// - Throws: ``ConfigurationError/unreadable(path:reason:)`` if the settings name a style sheet that cannot be
    ///   read.
    static func files(
        _ configuration: AgentConfiguration, _ sections: [ConsoleSection]
    ) throws(ConfigurationError) -> [ConsoleFile] {
        [
            ConsoleFile(
                path: "/", type: "text/html; charset=utf-8",
                text: html(configuration[ConsoleSettings.self].title, sections)),
            ConsoleFile(path: "/page.css", type: "text/css; charset=utf-8", text: css),
            ConsoleFile(
                path: "/page.js", type: "text/javascript; charset=utf-8",
                text: core + prompts + views + sections.map(\.script).joined() + logIns + people),
            ConsoleFile(
                path: "/own.css", type: "text/css; charset=utf-8",
                text: try ownStyle(configuration[ConsoleSettings.self].styleSheet)),
        ]
    }

    private static func ownStyle(_ path: String) throws(ConfigurationError) -> String {
        guard !path.isEmpty else { return "" }
        do {
            let bytes = try BoundedFile.read(path, limit: styleSheetLimit)
            if let text = String(validating: bytes, as: UTF8.self) { return text }
        } catch {
            throw .unreadable(path: path, reason: error.description)
        }
        throw .unreadable(path: path, reason: "it is not UTF-8")
    }

    private static func html(_ title: String, _ sections: [ConsoleSection]) -> String {
        var escaped = ""
        for character in title.prefix(64) {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            default: escaped.append(character)
            }
        }
        return head + "<title>\(escaped)</title></head><body data-ready=\"no\">" + header
            + "<h1 id=\"title\">\(escaped)</h1>" + body + sections.map(\.html).joined() + rest
    }
}
