import Foundation
import Groundwork
import TestSupport
import Testing

/// What people bring to the confined service: enrollments that wait for it, a scanner and a keypad; and a button and an
/// LED that the kernel's drivers have.
extension ConfinementTests {
    /// How often the lab handed out a configuration, and the devices that it has.
    private func lab(in lines: [JSON]) throws -> (enrollments: Int64, devices: Int) {
        let state = try #require(lines.last { $0["event"]?.string == "lab" }?["state"])
        return (state["counts"]?["E1"]?.integer ?? 0, state["devices"]?.array?.count ?? 0)
    }

    /// The agent's own words on enrollments since its start, by the events' names.
    private func expectTaken(_ lines: [JSON], from place: String, wiped: Bool = true) {
        #expect(observed("registered", in: lines) == [0])
        let told = noted("told", in: lines)
        #expect(told["enrollment.found"]?.hasPrefix("an enrollment is waiting in \(place) ") == true)
        #expect(told["enrollment.taken"]?.hasPrefix("used the enrollment in \(place), for https://localhost:") == true)
        #expect(told["enrollment.wiped"]?.hasPrefix("wiped \(place) ") == (wiped ? true : nil))
        let enrollment = lines.last { $0["enrollment"] != nil }?["enrollment"]
        #expect(enrollment?["state"]?.string == "taken" && enrollment?["place"]?.string == place)
        #expect(observed("forgotten", in: lines).allSatisfy { $0 == 0 })
    }

    @Test("the confined service takes the enrollment of a boot partition for root alone, once, and wipes it")
    func bootPartition() async throws {
        // It was on the medium.
        #expect(observed("on-card", in: try await during("installed")) == [0])
        let filed = try await during("filed")
        expectTaken(filed, from: "/boot/firmware/latchkey/enroll.url")
        #expect(try lab(in: filed) == (1, 1))
        #expect(observed("files", in: filed) == [0])
        // What grep says when it finds nothing.
        #expect(observed("on-card", in: filed) == [1])
    }

    @Test("the confined service takes the enrollment that is a credential of systemd's, once, and has it wiped")
    func credential() async throws {
        let lines = try await during("credential")
        expectTaken(lines, from: "the credential latchkey.enroll")
        #expect(try lab(in: lines) == (2, 1))
        #expect(observed("files", in: lines) == [0])
    }

    @Test("the confined service takes the enrollment that a scanner types, with the shipped drop-in")
    func scanned() async throws {
        let lines = try await during("scanned")
        // What waited before was taken once: nothing but the scanner is left.
        #expect(lines.first { $0["enrollment"] != nil }?["enrollment"]?["state"]?.string == "scanning")
        expectTaken(lines, from: "the scanned code", wiped: false)
        #expect(try lab(in: lines) == (3, 1))
    }

    @Test("a person registers with the confined service and logs in with M-Pin by a keypad, after a wrong PIN")
    func keypad() async throws {
        let registered = try await during("registered")
        #expect(observed("mpin", in: registered) == [0, 0, 0, 0])
        #expect(observed("terminal", in: registered) == [0])
        let keyed = try await during("keyed")
        #expect(observed("terminal", in: keyed) == [0])
        let screen = keyed.filter { $0["event"]?.string == "screen" }.compactMap { $0["value"]?.string }
        for text in ["answered elsewhere (program keypad)", "the PIN is wrong (2 attempts left)", "alice is logged in"]
        {
            #expect(screen.contains { $0.contains(text) }, "\(text) in \(screen)")
        }
        let events = keyed.compactMap { $0["event"]?.string }.filter { $0.hasPrefix("mpin.") }
        #expect(events == ["mpin.user-did-fail-to-log-in", "mpin.user-did-log-in"])
        let state = try #require(keyed.last { $0["event"]?.string == "lab" }?["state"]?["mpin"])
        #expect(state["users"]?.array?.count == 1 && state["users"]?.array?.first?["last_login"]?.integer != nil)
        #expect(state["violation_count"]?.integer == 0)
        // No log has what was typed.
        #expect(noted("journal", in: keyed) == ["secrets": "0"])
    }

    @Test("the confined service works button and LED through gpio-keys and leds-gpio, with its drop-in")
    func driven() async throws {
        let driven = try await during("driven")
        let events = driven.compactMap { $0["event"]?.string }.filter { $0.hasPrefix("button.") }
        #expect(events == ["button.pressed", "button.released"])
        #expect(observed("led", in: driven) == [1])
    }
}
