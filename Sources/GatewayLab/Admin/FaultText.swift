import Groundwork

/// Faults as JSON, for the admin API.
enum FaultText {
    /// `{"kind": "delay", "milliseconds": 500, "endpoint": "E8", "times": 2}`; `endpoint` and `times` may be absent.
    /// - Throws: `AdminAPI.BadInput`
    static func fault(from input: JSON) throws -> Fault {
        func number(_ name: String, _ range: ClosedRange<Int64>) throws -> Int {
            guard let value = input[name]?.integer, range.contains(value) else {
                throw AdminAPI.BadInput(
                    text: "\(name) must be a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return Int(value)
        }
        let kind: Fault.Kind
        switch input["kind"]?.string {
        case "delay": kind = .delay(milliseconds: try number("milliseconds", 1...600_000))
        case "drop": kind = .drop
        case "drop-answer": kind = .dropAnswer
        case "status": kind = .status(try number("status", 200...599))
        case "error": kind = .error(code: try number("code", 1...9_999_999), status: try number("status", 400...599))
        case "captive-portal": kind = .captivePortal
        case "lie":
            guard let lie = input["lie"]?.string.flatMap(MPinLie.init(rawValue:)) else {
                let names = MPinLie.allCases.map(\.rawValue).joined(separator: ", ")
                throw AdminAPI.BadInput(text: "lie must be one of \(names)")
            }
            kind = .lie(lie)
        default:
            throw AdminAPI.BadInput(
                text: "kind must be one of \(Fault.kinds.map(\.0).joined(separator: ", "))")
        }
        var endpoint: Endpoint?
        if let name = input["endpoint"], name != .null {
            guard let known = name.string.flatMap(Endpoint.init(rawValue:)) else {
                throw AdminAPI.BadInput(text: "endpoint must be one such as E8; latchkey-lab fault names lists them")
            }
            endpoint = known
        }
        let times = try input["times"].flatMap { $0 == .null ? nil : try number("times", 1...1_000_000) }
        return Fault(kind, at: endpoint, times: times)
    }

    static func json(_ fault: Fault) -> JSON {
        var members: [String: JSON] = [
            "endpoint": fault.endpoint.map { .string($0.rawValue) } ?? .null,
            "times": fault.remaining.map { .integer(Int64($0)) } ?? .null,
        ]
        switch fault.kind {
        case .delay(let milliseconds):
            members["kind"] = "delay"
            members["milliseconds"] = .integer(Int64(milliseconds))
        case .drop: members["kind"] = "drop"
        case .dropAnswer: members["kind"] = "drop-answer"
        case .status(let status):
            members["kind"] = "status"
            members["status"] = .integer(Int64(status))
        case .error(let code, let status):
            members["kind"] = "error"
            members["code"] = .integer(Int64(code))
            members["status"] = .integer(Int64(status))
        case .captivePortal: members["kind"] = "captive-portal"
        case .lie(let lie):
            members["kind"] = "lie"
            members["lie"] = .string(lie.rawValue)
        }
        return .object(members)
    }
}
