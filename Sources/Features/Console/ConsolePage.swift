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
            ConsoleFile(path: "/page.css", type: "text/css; charset=utf-8", text: text(PackageResources.page_css)),
            ConsoleFile(
                path: "/page.js", type: "text/javascript; charset=utf-8",
                text: script(sections)),
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

    /// With the title of the settings, and the sections of other features.
    private static func html(_ title: String, _ sections: [ConsoleSection]) -> String {
        var escaped = ""
        for character in title.prefix(64) {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            default: escaped.append(character)
            }
        }
        // The title last: it is the owner's, and may have any text.
        return text(PackageResources.page_html).replacing("{{sections}}", with: sections.map { text($0.html) }.joined())
            .replacing("{{title}}", with: escaped)
    }

    private static func script(_ sections: [ConsoleSection]) -> String {
        // The codes of the refusals after which the page needs a new address.
        let locking = [
            LocalAPIError.consoleOff, .consoleRequestForeign(reason: ""), .consoleSessionMissing, .consoleTokenRefused,
        ]
        let codes = JSON.array(locking.map { .string($0.code) }).text
        let before = [PackageResources.core_js, PackageResources.prompts_js, PackageResources.views_js]
        let after = [PackageResources.logins_js, PackageResources.people_js]
        return "\"use strict\";\nconst LOCKING = \(codes);\n"
            + (before + sections.map(\.script) + after).map(text).joined()
    }

    private static func text(_ file: [UInt8]) -> String { String(decoding: file, as: UTF8.self) }
}
