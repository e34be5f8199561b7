import Cryptography
import Groundwork
import TestSupport
import Testing

@testable import Messaging

@Suite("A broker connection with a foreign key", .timeLimit(.minutes(5)))
struct ForeignKeyTests {
    @Test(
        "a broker connection with a foreign key is made to Mosquitto, which demands a certificate",
        arguments: ["tlsv1.2", "tlsv1.3"], [PrivateKey.Algorithm.rsa(bits: 2048), .p256])
    func connects(version: String, algorithm: PrivateKey.Algorithm) async throws {
        let secure = try await SecureBroker(lines: ["tls_version \(version)"])
        let real = try PrivateKey(generating: algorithm)
        let software = try SoftwareKey(real)
        let key = try PrivateKey(foreign: software, publicKey: real.publicKey)
        let credentials = try secure.credentials(key: key, certifiedAs: real)
        let station = try await Station(at: secure.broker.address, credentials: { _ in credentials })
        try await station.publish("x", to: "t")
        try await station.waitUntilSent()
        #expect(software.asked.count == 1)
    }

    @Test(
        "a broker connection with a foreign key that does not sign fails, and says what the key said",
        arguments: ["tlsv1.2", "tlsv1.3"], [false, true])
    func faults(version: String, webSocket: Bool) async throws {
        let secure = try await SecureBroker(webSocket: webSocket, lines: ["tls_version \(version)"])
        let real = try PrivateKey(generating: .p256)
        for (fault, reason, remedy) in [
            (SoftwareKey.Fault.absent, "the token is not there", "put it in"),
            (.garbage, "the signature of the private key is not valid", nil),
        ] {
            let credentials = try secure.credentials(key: real.elsewhere(fault), certifiedAs: real)
            let station = try await Station(
                at: secure.broker.address, running: false, credentials: { _ in credentials })
            let events = station.messenger.events.subscribe()
            station.run()
            let error = await Station.first(of: events) { if case .failed(let error, _) = $0 { error } else { nil } }
            #expect(
                error == .tlsFailed(secure.broker.address, reason: "cannot sign: \(reason)", remedy: remedy))
        }
    }
}
