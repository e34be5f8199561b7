import Groundwork
import HTTPClient
import LocalAPI

extension StreamWriter {
    /// - Returns: whether there is still a reader.
    package func send(piece: [UInt8]) async -> Bool {
        guard form == .frames else {
            return await send(LocalEvent(name: "data", data: ["body": .string(Base64.encode(piece))]))
        }
        var frame: [UInt8] = []
        frame.reserveCapacity(piece.count + 5)
        StreamForm.write(frame: piece, to: &frame)
        return await send(frame)
    }
}

extension HTTPResponse {
    /// Answers a call that is followed in pieces.
    package func write(to writer: StreamWriter) async throws {
        let head = Self.report(status, headers, nil, as: nil)
        guard await writer.send(LocalEvent(name: "response", data: .object(head))) else { return }
        if !body.isEmpty { guard await writer.send(piece: body) else { return } }
        _ = await writer.send(LocalEvent(name: "end", data: ["bytes": .integer(Int64(body.count))]))
    }

    /// The head of a called API's answer.
    ///
    /// - Parameter refusal: what it means that is not a success.
    package static func report(
        _ status: Int, _ headers: HTTPHeaders, _ refusal: (any Explained)?, as principal: String?
    ) -> [String: JSON] {
        var members: [String: JSON] = [
            "status": .integer(Int64(status)),
            "headers": .array(headers.pairs.map { ["name": .string($0.name), "value": .string($0.value)] }),
        ]
        members["as"] = principal.map(JSON.string)
        members["error"] = refusal.map { .object($0.explanation.members) }
        return members
    }

    /// The whole answer of a called API.
    ///
    /// - Parameter refusal: what it means that is not a success.
    package func wholeReport(as principal: String? = nil, _ refusal: (any Explained)? = nil) -> [String: JSON] {
        var members = Self.report(status, headers, refusal, as: principal)
        members["body"] = .string(Base64.encode(body))
        members["text"] = String(validating: body, as: UTF8.self).map(JSON.string)
        let type = headers.first("Content-Type").map { $0.prefix { $0 != ";" } }.map { String($0).trimmed.lowercased() }
        if let type, type == "application/json" || type.hasSuffix("+json") {
            members["json"] = try? JSON(parsing: body)
        }
        return members
    }
}

extension LocalRequest {
    /// Grants are about gateways' accounts; for others it takes the right to operate.
    ///
    /// - Throws: ``LocalAPIError/accessDenied(user:method:path:permission:)``
    package func checkMayOperate() throws(LocalAPIError) {
        guard mayOperate else { throw denied(.operate) }
    }
}

extension AgentError {
    /// A request to an account of another kind has a member that only accounts at gateways know.
    package static func onlyAtGateway(_ member: String) -> AgentError {
        .badRequest(member: member, fault: "is only for accounts at gateways")
    }
}

extension Schema {
    package static let endOfToken = "when it expires; missing if the server of an OAuth account does not say"
    package static let whose = "whose token; by default the user's while one is logged in, otherwise the board's"
    package static var additionalScope: Schema {
        string("scopes needed beyond the configured ones, separated by blanks")
    }
}
