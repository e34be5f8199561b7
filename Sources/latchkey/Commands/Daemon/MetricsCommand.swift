import ArgumentParser
import Groundwork
import LocalAPI

struct MetricsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics", abstract: "Show the agent's figures, as monitoring tools read them.",
        discussion: """
            Prints the figures of sensors, outbox, brokers, inboxes, registration, certificate, token and the process \
            as OpenMetrics 1.0 text. /usr/share/doc/latchkey/Config/metrics.md says what each one is.

              $ latchkey metrics
              $ latchkey metrics --prometheus > /var/lib/node_exporter/latchkey.prom
            """)

    @Flag(help: "Use the older text format of Prometheus, version 0.0.4.") var prometheus = false
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard !prometheus || !options.json else { throw ValidationError("give one of --prometheus and --json") }
    }

    func run() async throws {
        let type = options.json ? "application/json" : prometheus ? "text/plain" : "application/openmetrics-text"
        Terminal.bytes(try await options.client.text("/v1/metrics", as: type))
    }
}
