import Groundwork
import LocalAPI
import Prompts

/// Prompts: the waiting questions to people are listed, answered and reported.
package struct PromptsFeature: Feature {
    package let host: Host

    package init(_ host: Host) { self.host = host }

    package func services() -> [any Service] {
        let prompts = host.prompts.events.subscribe()
        return [host.restarting("prompt events") { for await event in prompts { host.report(event) } }]
    }

    package static var errors: [any Explained.Type] { [PromptError.self] }

    package static var events: [any ReportedEvent.Type] { [PromptEvent.self] }
}
