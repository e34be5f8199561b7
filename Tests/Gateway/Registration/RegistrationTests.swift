import Cryptography
import Foundation
import Groundwork
import HTTPClient
import OAuth
import Testing

@testable import Gateway

@Suite("Registration request")
struct RegistrationRequestTests {
    private let request = RegistrationRequest(
        deviceID: String(repeating: "ab", count: 32),
        device: DeviceDescription(name: "edge box 7", model: "Raspberry Pi 4-B"),
        organization: "Lab Org",
        credentials: ClientCredentials(
            masterID: "m",
            authentication: ClientAuthentication(id: "c900-dyn", secret: SecretBytes(utf8: "s4cr3t-dyn"), expires: nil),
            isStatic: false))

    @Test("a registration request has the headers of MAG 4.3 and no authorization (MAG checklist 11, 13)")
    func headers() {
        let headers = request.headers
        #expect(headers.first("client-authorization") == "Basic YzkwMC1keW46czRjcjN0LWR5bg==")
        #expect(headers.first("device-id") == Base64.encode(Array(String(repeating: "ab", count: 32).utf8)))
        #expect(headers.first("device-name") == "ZWRnZSBib3ggNw==")
        #expect(headers.first("cert-format") == "pem")
        #expect(headers.first("content-type") == "text/plain")
        #expect(headers.first("authorization") == nil && headers.first("create-session") == nil)
    }

    @Test("a registration request carries a certificate request in base64url on one line (MAG checklist 11)")
    func body() async throws {
        let key = try PrivateKey(generating: .rsa(bits: 2048))
        let text = String(decoding: try await request.body(for: key), as: UTF8.self)
        let der = try #require(Base64.decode(text, alphabet: .urlSafe))
        #expect(!text.contains("="))
        let csr = try CertificateRequest(der: der)
        #expect(csr.publicKey == key.publicKey)
        #expect(csr.subject[.commonName] == "clientName")
        #expect(csr.subject[.organizationalUnit] == request.deviceID)
        #expect(csr.subject[.domainComponent] == "RaspberryPi4B")
        #expect(csr.subject[.organization] == "Lab Org")
    }

    @Test("a registration request names a model without letters or digits Undefined", arguments: ["", "---", "日本"])
    func model(text: String) { #expect(DeviceDescription(name: "n", model: text).modelComponent == "Undefined") }
}

@Suite("Registration answer")
struct RegistrationAnswerTests {
    private static let key = try! PrivateKey(generating: .p256)  // Cannot fail where the tests can run at all.
    private static let certificate = try! Documents.certificate(
        for: key.publicKey, from: Date(timeIntervalSince1970: 0), until: Date(timeIntervalSince1970: 4_000_000_000))

    private func answer(
        _ headers: [(String, String)] = [("device-status", "activated"), ("mag-identifier", "mag-1")],
        body: String? = nil
    ) throws -> CertificateAnswer.Granted {
        let fields = headers.map { HTTPHeaders.Field($0.0, $0.1) }
        return try CertificateAnswer.registration(
            HTTPResponse(status: 200, headers: HTTPHeaders(fields), body: Array((body ?? Self.certificate.pem).utf8)),
            for: Self.key.publicKey)
    }

    @Test("a registration answer gives certificate, identifier and whether the device may work, case aside")
    func complete() throws {
        #expect(try answer() == .init(chain: [Self.certificate], magIdentifier: "mag-1", isActive: true))
        #expect(try answer([("device-status", "Registered"), ("MAG-Identifier", "m")]).isActive == false)
    }

    @Test("a registration answer may have a chain, leaf first")
    func chain() throws {
        #expect(
            try answer(body: Self.certificate.pem + Documents.authority.pem).chain == [
                Self.certificate, Documents.authority,
            ])
    }

    @Test(
        "a registration answer is refused without exactly one of each part (MAG checklist 14)",
        arguments: [
            [("mag-identifier", "m")], [("device-status", "activated")],
            [("device-status", "activated"), ("device-status", "activated"), ("mag-identifier", "m")],
            [("device-status", "activated"), ("mag-identifier", "m"), ("mag-identifier", "m")],
            [("device-status", "lost"), ("mag-identifier", "m")],
            [("device-status", "activated"), ("mag-identifier", "")],
            [("device-status", "activated"), ("mag-identifier", "a b")],
            [("device-status", "activated"), ("mag-identifier", String(repeating: "m", count: 257))],
        ])
    func parts(headers: [(String, String)]) { #expect(throws: AnswerFault.self) { try answer(headers) } }

    @Test("a registration answer is refused without a certificate for our key")
    func certificates() throws {
        let none = AnswerFault("it contains no certificate: there is no line -----BEGIN CERTIFICATE-----")
        #expect(throws: none) { try answer(body: "") }
        #expect(throws: none) { try answer(body: "<html>log in</html>") }
        #expect(throws: AnswerFault("its certificate is for another key")) { try answer(body: Documents.authority.pem) }
        let long = String(repeating: Self.certificate.pem, count: CertificateAnswer.chainLimit + 1)
        #expect(throws: AnswerFault.self) { try answer(body: long) }
    }
}

@Suite("Renewal")
struct RenewalPolicyTests {
    private static let key = try! PrivateKey(generating: .p256)  // Cannot fail where the tests can run at all.
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let day: TimeInterval = 86_400

    private func device(endsIn days: Double, renewed daysAgo: Double? = nil) throws -> Device {
        Device(
            key: SampleHoldings.deviceKey,
            chain: [try Documents.certificate(for: Self.key.publicKey, from: now - 400 * day, until: now + days * day)],
            magIdentifier: "m", isActive: true, registeredAt: now - 400 * day, renewedAt: daysAgo.map { now - $0 * day }
        )
    }

    @Test(
        "a renewal is due with fewer than 30 days left (MAG checklist 18)",
        arguments: [(31.0, false), (30, false), (29.9, true), (-1, true)])
    func due(days: Double, isDue: Bool) throws {
        #expect(RenewalPolicy.isDue(try device(endsIn: days), at: now) == isDue)
    }

    @Test("a renewed certificate that is short from the start waits for half its rest (MAG quirk Q20)")
    func bounded() throws {
        #expect(!RenewalPolicy.isDue(try device(endsIn: 10, renewed: 0), at: now))
        #expect(!RenewalPolicy.isDue(try device(endsIn: 6, renewed: 4), at: now))
        #expect(RenewalPolicy.isDue(try device(endsIn: 5, renewed: 5), at: now))
        #expect(RenewalPolicy.isDue(try device(endsIn: 29, renewed: 336), at: now))
        // A clock that was put back does not stop renewal.
        #expect(RenewalPolicy.isDue(try device(endsIn: 10, renewed: -1), at: now))
    }

    @Test(
        "a renewal is refused only by the gateway's own word (MAG checklist 19)",
        arguments: [
            (200, nil, false), (400, "1000101", true), (401, "1000206", true), (403, "1000107", true),
            (404, nil, false),
            (500, "1000000", false), (502, nil, false), (503, "1000101", false), (429, "1000111", false),
            (408, nil, false),
            (302, nil, false), (401, nil, false), (400, "1000000", false),
        ] as [(Int, String?, Bool)])
    func verdicts(status: Int, code: String?, isRefused: Bool) {
        let response = HTTPResponse(status: status, headers: code.map { ["x-ca-err": $0] } ?? [:])
        if case .refused = RenewalPolicy.judge(response) { #expect(isRefused) } else { #expect(!isRefused) }
    }
}

@Suite("Client initialization answer")
struct InitializationAnswerTests {
    private func credentials(_ text: String) throws -> ClientAuthentication {
        try InitializationAnswer.credentials(Array(text.utf8), masterID: "m").authentication
    }

    @Test("client credentials never end with 0, else at epoch seconds as number or string (MAG checklist 10)")
    func expiration() throws {
        #expect(try credentials(#"{"client_id":"c","client_secret":"s","client_expiration":0}"#).expires == nil)
        for text in ["1893456000", #""1893456000""#] {
            let credentials = try credentials(#"{"client_id":"c","client_secret":"s","client_expiration":\#(text)}"#)
            #expect(!credentials.isExpired(at: Date(timeIntervalSince1970: 1_893_456_000)))
            #expect(credentials.isExpired(at: Date(timeIntervalSince1970: 1_893_456_001)))
        }
        let far = try credentials(#"{"client_id":"c","client_secret":"s","client_expiration":17532000000000000000}"#)
        #expect(!far.isExpired(at: Date(timeIntervalSince1970: 4_000_000_000)))
    }

    @Test(
        "a client initialization answer is refused without its three parts",
        arguments: [
            "{}", "[]", "", #"{"client_id":"c","client_secret":"s"}"#,
            #"{"client_id":"","client_secret":"s","client_expiration":0}"#,
            #"{"client_id":"c","client_secret":"a\nb","client_expiration":0}"#,
            #"{"client_id":"c","client_secret":"s","client_expiration":"never"}"#,
        ])
    func refused(text: String) { #expect(throws: AnswerFault.self) { try credentials(text) } }
}
