import Groundwork

/// Status, headers and body of an answer as it came.
struct RawResponse {
    let status: Int
    /// By name, in lower case.
    let headers: [String: String]
    var body: [UInt8] = []

    init(_ text: String) {
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = parts[0].split(separator: "\r\n")
        status = lines.first.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") } ?? 0
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let field = line.split(separator: ":", maxSplits: 1)
            headers[field[0].lowercased()] = field.count > 1 ? String(field[1].drop { $0 == " " }) : ""
        }
        self.headers = headers
        if parts.count > 1 { body = Array(parts[1].utf8) }
    }

    var json: JSON? { try? JSON(parsing: body) }
    /// The stable code of an error answer.
    var code: String? { json?["error"]?["code"]?.string }
}
