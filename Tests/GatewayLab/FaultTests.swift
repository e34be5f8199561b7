import Foundation
import Groundwork
import Testing

@testable import GatewayLab

extension GatewayLabTests {
    @Suite("Faults and persistence of the lab")
    struct FaultTests {
        @Test("a fault of the lab affects its endpoint the stated number of times")
        func counted() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                shop.lab.inject(Fault(.status(503), at: .token, times: 2))
                shop.lab.inject(Fault(.error(code: 1_000_206, status: 401), at: .hello))
                for status in [503, 503, 200] {
                    #expect(try await shop.token(device, [("grant_type", "client_credentials")]).status == status)
                }
                for _ in 0..<3 {
                    let reply = try await shop.curl.send("GET", "/lab/hello")
                    #expect(reply.status == 401 && reply.errorCode == "1000206")
                }
                #expect(shop.lab.activeFaults == [Fault(.error(code: 1_000_206, status: 401), at: .hello)])
                shop.lab.clearFaults()
                #expect(try await shop.curl.send("GET", "/lab/hello").errorCode == "3007992")
            }
        }

        @Test("the lab does not process a request whose connection it drops, but one whose answer it drops")
        func dropped() async throws {
            try await Workshop.open { shop in
                let board = try await shop.board()
                let client = try await shop.initialize(board)
                shop.lab.inject(Fault(.drop, at: .clientRegistration, times: 1))
                let noAnswer = await #expect(throws: ProgramFailure.self) { try await shop.register(board, client) }
                // Empty reply, or a failed receive.
                #expect([52, 56].contains(noAnswer?.status))
                #expect(await shop.lab.devices().isEmpty)
                shop.lab.inject(Fault(.dropAnswer, at: .clientRegistration, times: 1))
                await #expect(throws: ProgramFailure.self) { try await shop.register(board, client) }
                let lost = try #require(await shop.lab.devices().first)
                // The board asks again and is the same device (UNVERIFIED rule of the lab).
                #expect(try await shop.register(board, client).header("mag-identifier") == lost.magIdentifier)
            }
        }

        @Test("the lab delays answers, and as captive portal answers 200 text/html to everything")
        func delayedAndCaptive() async throws {
            try await Workshop.open { shop in
                shop.lab.inject(Fault(.delay(milliseconds: 300), times: 1))
                let clock = ContinuousClock()
                let start = clock.now
                _ = try await shop.curl.send("GET", Endpoint.discovery.path)
                #expect(clock.now - start >= .milliseconds(300))
                shop.lab.inject(Fault(.captivePortal))
                for path in [Endpoint.discovery.path, "/anything"] {
                    let reply = try await shop.curl.send("GET", path)
                    #expect(reply.status == 200 && reply.header("Content-Type") == "text/html")
                }
            }
        }

        @Test(
            "the lab shows each wrong certificate, and the genuine one again on the same port",
            arguments: ServerFace.allCases)
        func faces(_ face: ServerFace) async throws {
            try await Workshop.open { shop in
                try await shop.lab.show(face)
                let shown = try await run(
                    "bash",
                    [
                        "-c",
                        """
                        openssl s_client -connect localhost:\(shop.lab.port) -verify_hostname localhost \
                        -CAfile <(echo '\(shop.lab.caCertificatePEM)') </dev/null 2>&1 | grep -E 'Verif.* return code|Verification' | head -1
                        """,
                    ]
                ).output
                switch face {
                case .genuine, .otherKey, .commonNameOnly: #expect(shown.contains("OK") || shown.contains("0 (ok)"))
                case .expired: #expect(shown.contains("expired"))
                case .otherHost: #expect(shown.contains("ostname mismatch"))
                case .otherAuthority: #expect(shown.contains("self") || shown.contains("unable"))
                }
                let pinned = try await keyHash(shop)
                let genuine = try await genuineHash(shop)
                #expect((pinned == genuine) == (face != .otherKey))
                try await shop.lab.show(.genuine)
                #expect(try await shop.curl.send("GET", Endpoint.discovery.path).status == 200)
            }
        }

        @Test("a suspended lab refuses connections, and resumes with its state")
        func suspended() async throws {
            try await Workshop.open { shop in
                let token = try await shop.accessToken(try await shop.registered())
                await shop.lab.suspend()
                let failure = await #expect(throws: ProgramFailure.self) {
                    try await shop.curl.send("GET", "/lab/hello")
                }
                #expect(failure?.status == 7)
                try await shop.lab.resume()
                #expect(
                    try await shop.curl.send("GET", "/lab/hello", headers: ["Authorization": "Bearer \(token)"]).status
                        == 200)
            }
        }

        @Test("a lab restarted on its directory has the same keys, devices and tokens, and knows used URLs")
        func persistence() async throws {
            let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
                "lab-data-" + UUID().uuidString
            ).path
            defer { try? FileManager.default.removeItem(atPath: directory) }
            let port = try HeldPort(on: "127.0.0.1")
            let first = try await remembered(in: directory, at: port)
            let mode = try FileManager.default.attributesOfItem(atPath: directory)[.posixPermissions] as? Int
            #expect(mode == 0o700)
            try await Workshop.open({
                $0.dataDirectory = directory
                $0.port = port.number
            }) { shop in
                #expect(shop.lab.caCertificatePEM == first.authority)
                #expect(await shop.lab.devices().count == 1)
                let call = try await shop.curl.send(
                    "GET", "/lab/hello", headers: ["Authorization": "Bearer \(first.token)"])
                #expect(call.status == 200)
                let used = try await shop.curl.send("GET", first.url)
                #expect(used.errorCode == "132")
            }
            try Data("{".utf8).write(to: URL(fileURLWithPath: directory + "/state.json"))
            await #expect(throws: LabError.self) { try await Workshop.open({ $0.dataDirectory = directory }) { _ in } }
            #expect(FileManager.default.contents(atPath: directory + "/state.json") == Data("{".utf8))
        }

        @Test("the lab refuses a port that is taken and a prefix with a slash, with what to do")
        func refusals() async throws {
            try await Workshop.open { shop in
                var configuration = LabConfiguration()
                configuration.broker = false
                configuration.port = shop.lab.port
                let taken = configuration
                let error = await #expect(throws: LabError.self) { try await Lab.start(taken) }
                #expect(error?.code == "lab.cannot-listen" && error?.remedy != nil)
                configuration.prefix = "/lab"
                let slashed = configuration
                await #expect(throws: LabError.badPrefix("/lab")) { try await Lab.start(slashed) }
            }
        }

        /// What a first run of a lab leaves behind.
        private func remembered(in directory: String, at port: HeldPort) async throws -> (
            authority: String, token: String, url: String
        ) {
            var result = (authority: "", token: "", url: "")
            try await Workshop.open({
                $0.dataDirectory = directory
                $0.port = port.number
            }) { shop in
                let token = try await shop.accessToken(try await shop.registered())
                result = (shop.lab.caCertificatePEM, token, try await shop.lab.mintEnrollmentURL())
                #expect(try await shop.curl.send("GET", result.url).status == 200)
            }
            return result
        }

        private func keyHash(_ shop: Workshop) async throws -> String {
            try await run(
                "bash",
                [
                    "-c",
                    """
                    openssl s_client -connect localhost:\(shop.lab.port) </dev/null 2>/dev/null | openssl x509 -pubkey -noout \
                    | openssl pkey -pubin -outform DER | openssl dgst -sha256 -r | cut -d' ' -f1
                    """,
                ]
            ).output
        }

        private func genuineHash(_ shop: Workshop) async throws -> String {
            let document = try JSON(parsing: try await shop.lab.configurationDocument())
            let pins = document["mag"]?["mobile_sdk"]?["trusted_cert_pinned_public_key_hashes"]
            return (pins?[1]?.string ?? "") + "\n"
        }
    }
}
