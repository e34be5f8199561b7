import AgentCore
import Groundwork

@testable import Agent
@testable import AgentFirstBoot
@testable import AgentInstallation
@testable import AgentMessages

extension FuzzTarget {
    static let agent = [
        FuzzTarget(name: "agent-configuration") { bytes throws(Violation) in
            let configuration: AgentConfiguration
            do throws(ConfigurationError) {
                configuration = try AgentConfiguration(toml: text(bytes), path: "fuzzed.toml")
            } catch {
                try require(!error.message.isEmpty, "a refusal says why")
                return .refused
            }
            try require(configuration.stateDirectory.hasPrefix("/"), "state has a place")
            try require((5...65_535).contains(configuration.broker.keepAliveSeconds), "numbers are within their bounds")
            return .accepted
        },
        FuzzTarget(name: "request-body") { bytes throws(Violation) in
            guard let json = try? JSON(parsing: bytes) else { return .refused }
            let body = RequestBody(json: json)
            guard (try? body.payload("payload")) != nil, let qos = try? body.integer("qos", in: 0...2, default: 1)
            else {
                return .refused
            }
            try require((0...2).contains(qos), "numbers are within their bounds")
            return .accepted
        },
        FuzzTarget(name: "enrollment-content") { bytes throws(Violation) in
            guard let content = try? EnrollmentContent(parsing: bytes, of: "PATH") else { return .refused }
            if case .url = content {
                let url = (try? ReceivedText.decode(bytes)).flatMap { try? WrittenURL($0).text } ?? ""
                try require(
                    !url.isEmpty && url.utf8.allSatisfy { (0x21...0x7E).contains($0) },
                    "a URL that is taken is printable ASCII")
            }
            let ledger = EnrollmentLedger(parsing: bytes).adding("a", .taken)
            try require(
                EnrollmentLedger(parsing: ledger.bytes) == ledger, "a ledger that was written reads as the same")
            return .accepted
        },
        FuzzTarget(name: "first-boot-request") { bytes throws(Violation) in
            let answer = FirstBootHelper.answer(to: bytes, files: ["/nonexistent/a"], credentials: [])
            try require(answer["content"] == nil, "nothing is read but what the settings name")
            return answer["fault"] == nil ? .accepted : .refused
        },
        FuzzTarget(name: "action-request") { bytes throws(Violation) in
            guard let request = ActionRequest(parsing: bytes) else { return .refused }
            try require((0...ActionRequest.payloadLimit).contains(request.bytes), "a payload has a limit")
            try require(ActionRequest.names.isSuperset(of: request.variables.keys), "no message sets another variable")
            try require(
                request.variables.values.allSatisfy { value in
                    !value.unicodeScalars.contains { $0.properties.generalCategory == .control }
                }, "a variable has no control character, and no NUL")
            try require(
                ActionRequest(parsing: Array(request.head.dropLast())) == request,
                "a request that was written reads as the same")
            return .accepted
        },
        FuzzTarget(name: "action-outcome") { bytes throws(Violation) in
            guard let outcome = ActionOutcome(parsing: bytes) else { return .refused }
            try require(outcome.omitted >= 0, "a length is not negative")
            try require(!outcome.isSuccess || outcome.status == 0, "only status 0 is a success")
            try require(!outcome.isSuccess || outcome.refusal == nil, "what was not started is no success")
            try require(
                ActionOutcome(parsing: outcome.json.bytes) == outcome, "an outcome that was written reads as the same")
            return .accepted
        },
        FuzzTarget(name: "credential-header") { bytes throws(Violation) in
            guard let header = CredentialHeader(bytes) else { return .refused }
            try require(header.registers.allSatisfy { (0..<24).contains($0) }, "a register is one of a TPM")
            try require(header.registers == Set(header.registers).sorted(), "each register comes once")
            try require(bytes.count >= 32, "a header has its sizes")
            return .accepted
        },
    ]
}
