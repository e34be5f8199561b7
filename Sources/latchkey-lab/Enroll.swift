import ArgumentParser
import Foundation
import GatewayLab
import Groundwork

struct Enroll: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Mint a one-time enrollment URL.")

    @OptionGroup var lab: AdminOptions

    @Option(help: "Client id of the master client; the first one if not given.")
    var client: String?

    @Flag(help: "Draw the URL as a QR code too.")
    var qr = false

    func run() async throws {
        let input: JSON = client.map { ["client_id": .string($0)] } ?? [:]
        let answer = try await lab.call("POST", "enrollments", input)
        let url = answer["url"]?.string ?? ""
        if lab.json {
            let plain: JSON = ["url": .string(url), "expires_in": answer["expires_in"] ?? .null]
            print(plain.prettyText)
        } else {
            if qr, let code = QRCode(url) { print(code.terminalText(colored: Self.hasColors)) }
            print(url)
        }
    }

    /// Not in a pipe, nor if `NO_COLOR` is set (no-color.org).
    private static var hasColors: Bool {
        let environment = ProcessInfo.processInfo.environment
        let isWanted = environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
        return isWanted && isatty(STDOUT_FILENO) == 1
    }
}
