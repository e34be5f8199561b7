import ArgumentParser
import GatewayLab
import Groundwork

struct FaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault",
        abstract: "Make the lab misbehave.",
        discussion: "latchkey-lab fault names explains every kind, endpoint, certificate and part.",
        subcommands: [Set.self, List.self, Names.self, Clear.self, Face.self, Part.self, Clock.self])

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set a fault at an endpoint.",
            discussion: """
                latchkey-lab fault set status --status 503 --endpoint E8 --times 2
                latchkey-lab fault set error --code 1000206 --status 401 --endpoint E5
                latchkey-lab fault set delay --milliseconds 3000
                latchkey-lab fault set lie --lie off-curve --endpoint M5
                """)

        @OptionGroup var lab: AdminOptions

        @Argument(help: "delay, drop, drop-answer, status, error, captive-portal or lie.")
        var kind: String

        @Option(help: "Such as E8; latchkey-lab fault names lists them. Every endpoint if not given.")
        var endpoint: String?

        @Option(help: "Number of requests to affect; by default all, until cleared.")
        var times: Int?

        @Option(help: "HTTP status, for status and error.")
        var status: Int?

        @Option(help: "The x-ca-err, for error.")
        var code: Int?

        @Option(help: "Length of the delay, for delay.")
        var milliseconds: Int?

        @Option(help: "What is wrong with the answer, for lie.")
        var lie: String?

        func run() async throws {
            var input: [String: JSON] = ["kind": .string(kind)]
            input["endpoint"] = endpoint.map { .string($0) }
            input["lie"] = lie.map { .string($0) }
            for (name, value) in [("times", times), ("status", status), ("code", code), ("milliseconds", milliseconds)]
            {
                input[name] = value.map { .integer(Int64($0)) }
            }
            lab.show(try await lab.call("POST", "faults", .object(input))) { _ in "set" }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the faults that are set.")
        @OptionGroup var lab: AdminOptions

        func run() async throws {
            let table = Table("KIND", "ENDPOINT", "TIMES LEFT", "STATUS", "CODE", "MILLISECONDS", "LIE")
            try await lab.showList("faults", called: "faults", table) { table, fault in
                func number(_ name: String) -> String { fault[name]?.integer.map(String.init) ?? "" }
                table.add(
                    fault["kind"]?.string ?? "", fault["endpoint"]?.string ?? "every", number("times"),
                    number("status"), number("code"), number("milliseconds"),
                    fault["lie"]?.string ?? "")
            }
        }
    }

    struct Names: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Explain the names that the other commands accept.", discussion: "Does not contact a lab.")

        func run() {
            var kinds = Table("KIND", "WHAT THE LAB DOES")
            for (name, text) in Fault.kinds { kinds.add(name, text) }
            var endpoints = Table("ENDPOINT", "METHODS", "PATH", "WHAT IT IS FOR")
            for endpoint in Endpoint.allCases {
                endpoints.add(
                    endpoint.rawValue, endpoint.methods.joined(separator: " "), endpoint.path, endpoint.summary)
            }
            var lies = Table("LIE", "WHAT IS WRONG WITH THE ANSWER")
            for lie in MPinLie.allCases { lies.add(lie.rawValue, lie.summary) }
            var faces = Table("FACE", "CERTIFICATE SHOWN")
            for face in ServerFace.allCases { faces.add(face.rawValue, face.summary) }
            var parts = Table("PART", "ACTION", "WHAT HAPPENS")
            parts.add("gateway", "stop", "closes its port and its connections; its state is kept")
            parts.add("gateway", "start", "listens again on the same port")
            parts.add("broker", "stop", "ends and saves its state")
            parts.add("broker", "kill", "ends at once, without saving")
            parts.add("broker", "start", "starts again on the same port")
            parts.add("broker", "suspend", "hangs: connections stay open and nothing is answered")
            parts.add("broker", "resume", "continues after suspend")
            print([kinds, endpoints, lies, faces, parts].map(\.text).joined(separator: "\n\n"))
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Clear every fault and show the genuine certificate.")
        @OptionGroup var lab: AdminOptions

        func run() async throws {
            _ = try await lab.call("DELETE", "faults")
            lab.show(try await lab.call("POST", "face", ["face": "genuine"])) { _ in "cleared" }
        }
    }

    struct Face: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show another server certificate.")
        @OptionGroup var lab: AdminOptions

        @Argument(help: "genuine, other-key, expired, other-host or other-authority.")
        var face: String

        func run() async throws {
            lab.show(try await lab.call("POST", "face", ["face": .string(face)])) { _ in "showing \(face)" }
        }
    }

    struct Part: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Stop, start, kill, suspend or resume the gateway or the broker.")
        @OptionGroup var lab: AdminOptions

        @Argument(help: "gateway or broker.")
        var part: String

        @Argument(help: "stop or start; for the broker also suspend, resume and kill.")
        var action: String

        func run() async throws {
            guard ["gateway", "broker"].contains(part) else {
                throw ValidationError("There is no part \(part); the parts are gateway and broker.")
            }
            lab.show(try await lab.call("POST", "\(part)/\(action)", [:])) { _ in "\(part): \(action)" }
        }
    }

    struct Clock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Move the lab's clock.")
        @OptionGroup var lab: AdminOptions

        @Argument(help: "Seconds forward.")
        var seconds: Int

        func run() async throws {
            let input: JSON = ["advance_seconds": .integer(Int64(seconds))]
            lab.show(try await lab.call("POST", "clock", input)) { _ in "moved by \(seconds) s" }
        }
    }
}
