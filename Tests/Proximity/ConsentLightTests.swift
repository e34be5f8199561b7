import Bluetooth
import Groundwork
import Prompts
import TestSupport
import Testing

@testable import Proximity

@Suite("The light for consent")
struct ConsentLightTests {
    @Test("the light for consent shows each answer, and nothing for a request that is turned away meanwhile")
    func light() {
        let (one, two) = (request(1), request(2))
        var choice = ConsentLightChoice()
        #expect(choice.take(.sharingStarted) == nil)
        #expect(choice.take(.consentAsked(one)) == .waiting)
        #expect(choice.take(.consentAnswered(two, .busy)) == nil)
        #expect(choice.take(.consentAnswered(one, .granted(by: .button))) == .granted)
        #expect(choice.take(.consentAsked(two)) == .waiting)
        #expect(choice.take(.consentAnswered(two, .timedOut)) == .refused)
        #expect(choice.take(.consentAnswered(one, .tooMany)) == nil)
        #expect(choice.take(.consentAnswered(one, .granted(by: .policy))) == .granted)
        #expect(choice.take(.consentAsked(one)) == .waiting)
        #expect(choice.take(.consentAmbiguous(waiting: 2)) == .ambiguous)
        #expect(choice.take(.consentUnambiguous(two)) == .waiting)
        #expect(choice.take(.consentAnswered(two, .ambiguous)) == .refused)
        #expect(Set(ConsentLight.allCases.map { "\($0.pattern)" }).count == 4, "they look different")
        #expect(
            ConsentLight.waiting.lasts == nil && ConsentLight.ambiguous.lasts == nil
                && ConsentLight.granted.lasts != nil)
    }

    private func request(_ id: Int) -> ConsentRequest {
        ConsentRequest(id: id, requester: Requester(name: nil, address: nil, way: .qr), date: ManualClock().date)
    }
}
