import Bluetooth
import Foundation
import Groundwork
import Prompts
import TestSupport
import Testing

@testable import Proximity

@Suite("Events of proximity")
struct EventTests {
    private static let requester = Requester(name: "Pixel", address: "C0:FF:EE:00:00:01", way: .ble)
    private static let request = ConsentRequest(id: 7, requester: requester, date: Date(timeIntervalSince1970: 0))

    private static let all: [ProximityEvent] = [
        .scanStarted, .scanStopped, .deviceDetected(address: "a", rssi: -50, name: nil),
        .deviceTooFar(address: "a", rssi: -90, least: -80),
        .deviceConnected(address: "a"), .deviceFailed(address: "a", .characteristicMissing(address: "a")),
        .deviceDisconnected(address: "a"), .serviceDiscovered(address: "a"), .characteristicFound(address: "a"),
        .requestWritten(address: "a", pieces: 5), .polled(attempt: 1, of: 6), .loginSucceeded(userName: "alice"),
        .loginFailed(.notAuthorizedInTime), .qrCodeShown(seconds: 36), .qrCodeHidden, .authorizationCodeReceived,
        .authorizationErrorReceived(.notAuthorizedInTime), .sharingStarted, .sharingInterrupted(reason: "no adapter"),
        .sharingStopped(.done), .centralConnected("c"), .centralDisconnected("c"), .centralSubscribed("c"),
        .centralUnsubscribed("c"),
        .centralHungUp("c", .flooding), .requestReceived(requester),
        .requestRefused(requester, .requestRefused(.replayed)),
        .consentAsked(request), .consentAnswered(request, .granted(by: .button)), .consentAmbiguous(waiting: 2),
        .consentUnambiguous(request), .sessionAuthorized(requester),
        .sessionNotAuthorized(requester, .userDeclined(by: "button")), .sessionNotified(requester, .authorized),
        .sessionNotNotified(requester, .centralUnsubscribed(central: "c")), .sharingEndRequested(by: .button),
        .buttonFault(.stuck), .buttonRecovered,
    ]

    @Test("events of proximity have a name of their own, one line for a person, and nothing left unsaid")
    func told() {
        #expect(Set(Self.all.map(\.name)).count == Self.all.count)
        for event in Self.all {
            #expect(event.name.hasPrefix("proximity."))
            #expect(!event.description.isEmpty && !event.description.contains("\n"))
            #expect((try? JSON(parsing: JSON.object(event.details).bytes)) != nil)
        }
    }

    @Test("events of proximity cover all 17 states of MAG 8.6, with the numbers of both clients")
    func states() {
        #expect(ProximityState.allCases.map(\.iosNumber) == Array(-1...15))
        #expect(ProximityState.allCases.map(\.androidNumber) == [nil] + Array(0...15))
        #expect(Set(Self.all.compactMap(\.state)) == Set(ProximityState.allCases))
        #expect(ProximityEvent.sharingStarted.details["state_android"] == 12)
        #expect(ProximityEvent.sharingStarted.details["state_ios"] == 12)
        #expect(ProximityEvent.sharingInterrupted(reason: "x").numbers == ErrorNumbers(ios: -1))
    }

    @Test("events of proximity explain their error as other events do, with code, kind and remedy", arguments: all)
    func explained(event: ProximityEvent) {
        let details = event.details
        #expect(details["code"]?.string == event.error?.code)
        #expect(details["kind"]?.string == event.error?.kind.rawValue)
        #expect(details["remedy"]?.string == event.error?.remedy)
        guard let error = event.error else { return }
        #expect(details["message"]?.string == error.message)
        #expect(event.report.message == error.message)
    }

    @Test("events of proximity carry the numbers of their errors")
    func errors() {
        let details = ProximityEvent.sessionNotNotified(Self.requester, .centralUnsubscribed(central: "c")).details
        #expect(details["error_android"] == 123 && details["error_ios"] == 650_004)
        #expect(details["name"] == "Pixel" && details["address"] == "C0:FF:EE:00:00:01")
    }
}

@Suite("Errors of proximity")
struct ErrorTests {
    private static let all = ProximityError.examples

    @Test("errors of proximity have a code of their own and a message")
    func explained() {
        #expect(Set(Self.all.map(\.code)).count == Self.all.count)
        for error in Self.all {
            #expect(error.code.hasPrefix("proximity."))
            #expect(error.code.allSatisfy { $0.isLowercase || $0.isNumber || ".-".contains($0) })
            #expect(!error.message.isEmpty && !error.message.contains("\n"))
        }
    }

    @Test("errors of proximity say what to do, where a person can do anything")
    func remedies() {
        let without = Self.all.filter { $0.remedy == nil }
        let final: [RequestRefusal] = [.tooLong, .tooSlow, .notUTF8, .notJSON, .withoutURL, .foreignGateway, .replayed]
        #expect(without == [.nobodyToAsk] + final.map(ProximityError.requestRefused))
    }

    @Test("errors of proximity cover the numbers of MAG 8.6 that can come up here")
    func numbers() {
        #expect(Set(Self.all.compactMap(\.numbers.android)) == [100, 101, 102, 103, 120, 121, 122, 123])
        let ios = Set(Self.all.compactMap(\.numbers.ios))
        #expect(ios.isSuperset(of: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16].map { 650_000 + $0 }))
        #expect(ios.isSuperset(of: [650_101, 650_102, 650_103, 650_104]))
    }
}
