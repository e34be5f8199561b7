import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    @Suite("Enrollment URL of the lab")
    struct EnrollmentTests {
        @Test("an enrollment URL gives the configuration once, and otherwise x-ca-err 132 (MAG checklist 46)")
        func once() async throws {
            try await Workshop.open { shop in
                let url = try await shop.lab.mintEnrollmentURL()
                let first = try await shop.curl.send("GET", url)
                #expect(first.status == 200)
                #expect(first.header("Content-Type") == "application/json")
                let document = try await shop.lab.configurationDocument()
                #expect(first.body == document)

                let late = try await shop.lab.mintEnrollmentURL()
                shop.lab.advanceClock(by: .seconds(601))
                let other = try await shop.lab.mintEnrollmentURL()
                let forged = other.replacingOccurrences(of: "sessionData=eyJ", with: "sessionData=eyK")
                let unsigned = other.replacing(/sessionData=[^.]+/, with: "sessionData=eyJhbGciOiJub25lIn0")
                for refused in [
                    url, late, forged, unsigned, "/connect/device/config", "/connect/device/config?sessionData=x",
                ] {
                    let reply = try await shop.curl.send("GET", refused)
                    #expect(reply.status == 400, "\(refused)")
                    #expect(reply.errorCode == "132")
                    #expect(reply.json["error"]?.string == "invalid_request")
                    #expect(reply.json["error_description"]?.string?.isEmpty == false)
                }
                #expect(try await shop.curl.send("GET", other).status == 200)
            }
        }

        @Test("the enrollment URL contains the SHA-256 of the server's key in base64url, with escaped padding")
        func keyHash() async throws {
            try await Workshop.open { shop in
                let url = try await shop.lab.mintEnrollmentURL()
                let hash = try #require(url.split(separator: "subjectKeyHash=").last)
                #expect(hash.hasSuffix("%3D") && !hash.contains("="))
                let shown = try await run(
                    "bash",
                    [
                        "-c",
                        """
                        openssl s_client -connect localhost:\(shop.lab.port) </dev/null 2>/dev/null | openssl x509 -pubkey -noout \
                        | openssl pkey -pubin -outform DER | openssl dgst -sha256 -hex | sed 's/.* //'
                        """,
                    ])
                let bytes = try #require(Base64.decode(String(hash.dropLast(3)) + "=", alphabet: .urlSafe))
                #expect(Hex.encode(bytes) + "\n" == shown.output)
            }
        }

        @Test("the enrollment URL works even if a client repeats its query after a second ? (MAG quirk Q6)")
        func repeatedQuery() async throws {
            try await Workshop.open { shop in
                let url = try await shop.lab.mintEnrollmentURL()
                let query = try #require(url.split(separator: "?").last)
                #expect(try await shop.curl.send("GET", "\(url)?\(query)").status == 200)
            }
        }

        @Test("the lab's configuration has both names of E5's path, two pin forms, the prefix (MAG quirks Q1, Q8, Q17)")
        func document() async throws {
            try await Workshop.open({ $0.prefix = "lab" }) { shop in
                let document = try JSON(parsing: try await shop.lab.configurationDocument())
                let server = document["server"]
                let mag = document["mag"]
                #expect(server?["hostname"]?.string == "localhost" && server?["prefix"]?.string == "lab")
                #expect(server?["port"]?.integer == Int64(shop.lab.port))
                let lines = server?["server_certs"]?[0]?.array?.compactMap(\.string) ?? []
                #expect(lines.joined(separator: "\n") + "\n" == shop.lab.caCertificatePEM)
                let endpoints = mag?["system_endpoints"]
                #expect(
                    endpoints?["device_client_register_endpoint_path"]
                        == endpoints?["device_register_client_endpoint_path"])
                let pins =
                    mag?["mobile_sdk"]?["trusted_cert_pinned_public_key_hashes"]?.array?.compactMap(\.string) ?? []
                #expect(pins.count == 2 && Base64.decode(pins[0]).map(Hex.encode) == pins[1])
                #expect(try await shop.curl.send("GET", shop.lab.mintEnrollmentURL()).status == 200)
            }
        }

        @Test("the lab's configuration names only endpoints that exist and are served (MAG 1.1)")
        func announced() async throws {
            try await Workshop.open { shop in
                let document = try JSON(parsing: try await shop.lab.configurationDocument())
                let groups = [
                    document["oauth"]?["system_endpoints"], document["oauth"]?["oauth_protected_endpoints"],
                    document["mag"]?["system_endpoints"], document["mag"]?["oauth_protected_endpoints"],
                    document["mas"], document["custom"],
                ]
                for (name, value) in groups.flatMap({ $0?.object ?? [:] }) {
                    guard let path = value.string else { continue }
                    let reply = try await shop.curl.send("GET", path)
                    #expect(reply.status != 404 && reply.status != 501, "\(name)")
                }
            }
        }
    }
}
