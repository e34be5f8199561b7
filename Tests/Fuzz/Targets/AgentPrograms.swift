import AgentCore
import Gateway
import Groundwork
import HTTPClient

@testable import Agent
@testable import AgentCalls
@testable import LocalAPI

/// What local programs send to the forward proxy, and what names them.
extension FuzzTarget {
    static let ofPrograms = [
        FuzzTarget(name: "proxy-request") { bytes throws(Violation) in
            // A method, a target, then a header in each line.
            let lines = text(bytes).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            guard lines.count >= 2 else { return .refused }
            var headers: HTTPHeaders = [:]
            for line in lines.dropFirst(2) {
                let parts = line.split(separator: ":", maxSplits: 1).map { String($0.drop { $0 == " " }) }
                if parts.count == 2 { headers.add(parts[0], parts[1]) }
            }
            guard let request = try? ForwardRequest(method: lines[0], target: lines[1], headers: headers) else {
                return .refused
            }
            try require(
                request.headers.fields.allSatisfy {
                    !["authorization", "host", "connection", "transfer-encoding", "mag-identifier"].contains(
                        $0.name.lowercased())
                }, "no credentials and no framing are passed on")
            try require(
                request.segments.dropLast().allSatisfy { !$0.isEmpty } && !request.segments.contains(".."),
                "no segment leads elsewhere")
            try require(request.path.hasPrefix("/") && !request.path.hasPrefix("//"), "a path begins with one slash")
            if case .host(let host, let port) = request.server {
                try requireAgreement("https://\(host):\(port)\(request.path)", host: host, port: port)
            }
            return .accepted
        },
        FuzzTarget(name: "grant") { bytes throws(Violation) in
            guard let json = try? JSON(parsing: bytes), json.object != nil,
                let grant = try? ProgramGrant(json: json, id: "1")
            else { return .refused }
            try require(!grant.subject.isEmpty, "a grant is about somebody")
            try require(!grant.principals.isEmpty, "a grant names whose token")
            let again = try? ProgramGrant(json: grant.json(isInSettings: false), id: "1")
            try require(again == grant, "what is kept of a grant is the grant")
            return .accepted
        },
        FuzzTarget(name: "unit-of-cgroup") { bytes throws(Violation) in
            guard let unit = PeerUnit.unit(in: text(bytes)) else { return .refused }
            try require(!unit.contains("/") && !unit.contains("\n"), "a unit is one name")
            try require(unit.hasSuffix(".service") || unit.hasSuffix(".scope"), "a unit is a service or a scope")
            return .accepted
        },
    ]
}
