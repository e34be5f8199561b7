import Groundwork
import LocalAPI
import Prompts

/// Prompts: the waiting questions to people are listed, answered and reported.
struct PromptsFeature: Feature {
    let host: Host

    init(_ host: Host) { self.host = host }

    func services() -> [any Service] {
        let prompts = host.prompts.events.subscribe()
        return [host.restarting("prompt events") { for await event in prompts { host.report(event) } }]
    }

    static var events: [any ReportedEvent.Type] { [PromptEvent.self] }
}
