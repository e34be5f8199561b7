import Bluetooth
import Groundwork
import Prompts
import TestSupport
import Testing

@testable import Proximity

/// Questions for consent are prompts among others.
@Suite("A question for consent as a prompt", .timeLimit(.minutes(5)))
struct ConsentPromptTests: ConsentSuite {
    let scene: ConsentScene
    private let desk: ConsentDesk

    init() {
        scene = ConsentScene()
        desk = scene.desk()
    }

    private let phone = Requester(name: "Pixel", address: "C0:FF:EE:00:00:01", way: .ble)

    /// The number of the `count`th question.
    @discardableResult
    private func asked(_ count: Int = 1) async throws -> Int {
        let event = try await recorder.log.wait(count) { if case .consentAsked = $0 { true } else { false } }
        guard case .consentAsked(let request) = event else { return 0 }
        return request.id
    }

    @Test("a prompt for consent keeps its number, says what asks, and takes the button's or a person's answer")
    func shown() async throws {
        let asking = Task { await desk.ask(phone, inNameOf: "alice") }
        let id = try await asked()
        let prompt = try prompts.prompt(id)
        #expect(prompt.question.kind == .consent && prompt.question.answerers == .operatorsAndButton)
        #expect(prompt.question.text == "Let in “Pixel” (C0:FF:EE:00:00:01)?")
        #expect(prompt.timeLeft == .seconds(30))
        #expect(
            prompt.details["subject"]
                == ["name": "Pixel", "address": "C0:FF:EE:00:00:01", "way": "ble", "user": "alice"])
        try await desk.answer(id, grant: true, by: .user("root"))
        #expect(await asking.value.decision == .granted(by: .user("root")))
        #expect(prompts.prompts.isEmpty)
    }

    @Test("a prompt for consent is answered where prompts are, recorded with who did it, and then closed")
    func answeredAsPrompt() async throws {
        let asking = Task { await desk.ask(phone) }
        let id = try await asked()
        try prompts.refuse(id, by: .user("root"), uid: 0)
        await #expect(throws: ProximityError.noSuchRequest(id: id)) {
            try await desk.answer(id, grant: true, by: .button)
        }
        #expect(await asking.value.decision == .refused(by: .user("root")))
        #expect(records.entries.map(\.decision) == [.refused(by: .user("root"))])

        let again = Task { await desk.ask(phone) }
        try prompts.answer(try await asked(2), .grant, by: .program("pin pad"), uid: 0)
        #expect(await again.value.decision == .granted(by: .program("pin pad")))
    }

    @Test("a prompt for consent closes with its question: by time, by the asker's leaving, by sharing's end")
    func closed() async throws {
        let silent = Task { await desk.ask(phone) }
        try await asked()
        await clock.advance(by: .seconds(30))
        #expect(await silent.value.decision == .timedOut)
        #expect(prompts.prompts.isEmpty)

        let gone = Task { await desk.ask(phone) }
        try await asked(2)
        gone.cancel()
        #expect(await gone.value.decision == .withdrawn)
        #expect(prompts.prompts.isEmpty)

        let ended = Task { await desk.ask(phone) }
        try await asked(3)
        await desk.endSharing(by: .button)
        #expect(await ended.value.decision == .sharingEnded(by: .button))
        #expect(prompts.prompts.isEmpty)
    }

    @Test("a prompt for consent is decided once, however many ways answer it at the same moment")
    func race() async throws {
        for number in 1...50 {
            let way = Requester(name: "\(number)", address: "\(address(UInt8(number)))", way: .ble)
            let asking = Task { await desk.ask(way) }
            let id = try await asked(number)
            async let first = Task.detached { [desk] in (try? await desk.answer(id, grant: true, by: .button)) != nil }
                .value
            async let second = Task.detached { [prompts] in (try? prompts.refuse(id, by: .user("root"), uid: 0)) != nil
            }
            .value
            let (isGranted, isRefused) = (await first, await second)
            #expect(isGranted != isRefused)
            #expect(await asking.value.decision == (isGranted ? .granted(by: .button) : .refused(by: .user("root"))))
            clock.move(by: .seconds(60))
        }
        let isAnswer = { @Sendable (event: ProximityEvent) in if case .consentAnswered = event { true } else { false } }
        try await recorder.log.wait(50, for: isAnswer)
        #expect(recorder.log.entries.count(where: isAnswer) == 50)
    }

    @Test(
        "a prompt for consent takes no other's place, and on a full desk the device is told to come back")
    func full() async throws {
        for _ in 0..<PromptDesk.limitPerKind {
            try prompts.open(PromptQuestion(.consent, "Let in?"), patience: nil) { _ in }
        }
        #expect(await desk.ask(phone).decision == .busy)
        #expect(await desk.pending.isEmpty)
    }
}
