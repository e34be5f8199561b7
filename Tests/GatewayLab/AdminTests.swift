import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    @Suite("Admin port")
    struct AdminTests {
        @Test("the admin port serves its page with a policy that allows no external content")
        func page() async throws {
            try await Workshop.open { shop in
                for path in ["", "page.css", "page.js"] {
                    let answer = try await ask(shop, ["-i", "\(shop.lab.adminURL)/\(path)"])
                    #expect(answer.hasPrefix("HTTP/1.1 200") && answer.contains("default-src 'none'"))
                    #expect(
                        !answer.contains("http://") && !answer.contains("https://"),
                        "\(path) loads something from elsewhere")
                }
            }
        }

        @Test("the admin port refuses another host name, and a change that a form of another site could send")
        func foreignSites() async throws {
            try await Workshop.open { shop in
                let status = ["-o", "/dev/null", "-w", "%{http_code}"]
                let host = "Host: evil.test:\(shop.lab.adminPort)"
                let rebound = try await ask(shop, status + ["-H", host, "\(shop.lab.adminURL)/api/state"])
                #expect(rebound == "403")
                for type in ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"] {
                    let form = ["-d", "{}", "-H", "Content-Type: \(type)", "\(shop.lab.adminURL)/api/enrollments"]
                    let answer = try await ask(shop, status + form)
                    #expect(answer == "415")
                }
                #expect(shop.lab.log.isEmpty)
            }
        }

        @Test("the admin port answers only requests with the token of this start")
        func strangers() async throws {
            var shown: [String?] = [nil, "", "x"]
            try await Workshop.open { shown.append($0.lab.adminToken) }
            try await Workshop.open { shop in
                for token in shown + [shop.lab.adminToken + "x"] {
                    let header = token.map { ["-H", "Authorization: Bearer \($0)"] } ?? []
                    for (method, path) in [
                        ("GET", "state"), ("GET", "events"), ("POST", "enrollments"), ("POST", "clients"),
                        ("DELETE", "faults"), ("GET", "nothing"),
                    ] {
                        let answer = try await run(
                            "curl",
                            [
                                "-s", "-i", "--max-time", "120", "-X", method, "-H", "Content-Type: application/json",
                                "-d", #"{"name":"evil"}"#, "\(shop.lab.adminURL)/api/\(path)",
                            ] + header
                        ).output
                        let isRefused = answer.hasPrefix("HTTP/1.1 401") && answer.contains("lab.unauthorized")
                        #expect(isRefused, "\(method) \(path)")
                    }
                }
                #expect(shop.lab.log.isEmpty)
            }
        }

        @Test("the admin port keeps its token in a file that no other user can read", .enabled(if: getuid() == 0))
        func tokenFile() async throws {
            let data = FileManager.default.temporaryDirectory.appendingPathComponent("lab-" + UUID().uuidString).path
            defer { try? FileManager.default.removeItem(atPath: data) }
            try await Workshop.open({ $0.dataDirectory = data }) { shop in
                let file = data + "/admin.token"
                #expect(try String(contentsOfFile: file, encoding: .utf8) == shop.lab.adminToken + "\n")
                let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
                #expect(mode == 0o600)
                let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"]
                await #expect(throws: ProgramFailure.self) { try await run("setpriv", nobody + ["cat", file]) }
                let answer = try await run(
                    "setpriv",
                    nobody + [
                        "curl", "-s", "--max-time", "120", "-H", "Content-Type: application/json", "-d",
                        #"{"name":"evil","user":"alice"}"#, "\(shop.lab.adminURL)/api/clients",
                    ]
                ).output
                #expect(answer.contains("lab.unauthorized") && !answer.contains("access_token"))
            }
        }

        @Test("the admin port shows messages without readings, or those with a text, even beyond the newest hundred")
        func filters() async throws {
            try await Workshop.open({ $0.broker = true }) { shop in
                let phone = try await Phone(shop)
                var arrivals = shop.lab.arrivals.subscribe().makeAsyncIterator()
                try await phone.publish("/2.0/client/devices/\(phone.deviceID)/custom/door", "open")
                _ = await arrivals.next()
                let readings = (1...101).map { "reading \($0)\n" }.joined()
                try await phone.publish("/2.0/client/devices/\(phone.deviceID)/custom/telemetry", lines: readings)
                for _ in 1...101 { _ = await arrivals.next() }
                func topics(_ query: String) async throws -> [String] {
                    let text = try await ask(shop, ["\(shop.lab.adminURL)/api/state\(query)"])
                    let state = try JSON(parsing: Array(text.utf8))
                    return (state["messages"]?.array ?? []).compactMap { $0["topic"]?.string }
                }
                #expect(try await topics("").count == 100)
                #expect(try await topics("?telemetry=no").map { $0.hasSuffix("/door") } == [true])
                #expect(try await topics("?match=OPEN").map { $0.hasSuffix("/door") } == [true])
                #expect(try await topics("?match=reading%207").count == 11)
                #expect(try await topics("?telemetry=no&match=reading").isEmpty)
            }
        }

        @Test("the admin port mints a URL that works, with its QR code")
        func mints() async throws {
            try await Workshop.open { shop in
                let answer = try await post(shop, "enrollments", [:])
                #expect(answer["qr_svg"]?.string?.hasPrefix("<svg") == true && answer["expires_in"] == 600)
                let url = try #require(answer["url"]?.string)
                #expect(try await shop.curl.send("GET", url).status == 200)
                #expect(try await post(shop, "enrollments", ["client_id": "nobody"])["code"] == "lab.no-such-thing")
            }
        }

        @Test("the admin port shows devices and shortened tokens, and no secret")
        func state() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                let token = try await shop.accessToken(device)
                let text = try await ask(shop, ["\(shop.lab.adminURL)/api/state"])
                let state = try JSON(parsing: Array(text.utf8))
                #expect(state["devices"]?[0]?["mag_identifier"] == .string(device.magIdentifier))
                #expect(state["tokens"]?[0]?["token"] == .string(token.prefix(6) + "…"))
                #expect(state["counts"] == ["E2": 1, "E5": 1, "E8": 1])
                #expect(!text.contains(token) && !text.contains(device.client.secret))
            }
        }

        @Test("the admin port sets faults, refuses invalid input, removes devices")
        func acts() async throws {
            try await Workshop.open { shop in
                let device = try await shop.registered()
                #expect(
                    try await post(
                        shop, "faults",
                        ["kind": "error", "code": 3_003_206, "status": 401, "endpoint": "E8", "times": 1]) == [:])
                #expect(shop.lab.activeFaults == [Fault(.error(code: 3_003_206, status: 401), at: .token, times: 1)])
                for nonsense: JSON in [
                    [:], ["kind": "x"], ["kind": "status", "status": 200], ["kind": "drop", "endpoint": "E99"],
                    ["kind": "drop", "times": 0],
                ] {
                    #expect(try await post(shop, "faults", nonsense)["error"] != nil)
                }
                #expect(shop.lab.activeFaults.count == 1)
                #expect(try await post(shop, "face", ["face": "expired"]) == [:])
                #expect(await shop.lab.face == .expired)
                #expect(try await post(shop, "devices/\(device.magIdentifier)", [:], method: "DELETE") == [:])
                #expect(await shop.lab.devices().isEmpty)
                #expect(try await post(shop, "devices/nobody/activate", [:])["code"] == "lab.no-such-thing")
            }
        }

        @Test("the admin port streams an event as it happens")
        func events() async throws {
            try await Workshop.open { shop in
                let script = """
                    api=\(shop.lab.adminURL)/api
                    token='Authorization: Bearer \(shop.lab.adminToken)'
                    exec 3< <(exec curl -sN --max-time 120 -H "$token" $api/events)
                    read -r first <&3; echo "$first"
                    curl -s -o /dev/null -H "$token" -H 'Content-Type: application/json' -d '{}' $api/enrollments
                    while read -r line <&3; do case $line in event:*) echo "$line"; break;; esac; done
                    kill $! || true
                    """
                let output = try await run("bash", ["-c", script]).output
                #expect(output == ": connected\nevent: event\n")
            }
        }

        private func ask(_ shop: Workshop, _ arguments: [String]) async throws -> String {
            try await run("curl", ["-s", "--max-time", "120"] + shop.adminHeader + arguments).output
        }

        private func post(_ shop: Workshop, _ path: String, _ input: JSON, method: String = "POST") async throws -> JSON
        {
            let answer = try await ask(
                shop,
                [
                    "-X", method, "-H", "Content-Type: application/json", "-d", input.text,
                    "\(shop.lab.adminURL)/api/\(path)",
                ])
            return try JSON(parsing: Array(answer.utf8))
        }
    }
}
