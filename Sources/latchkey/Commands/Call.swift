import ArgumentParser
import FoundationEssentials
import Groundwork
import LocalAPI

struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Call a protected API of the gateway as this device.",
        discussion: """
            The access token, the identifier and the client certificate are added, and renewed where that is needed. \
            Exit status 76 when the answer is not a success (2xx).

              $ latchkey call GET /lab/hello
              $ latchkey call POST /orders --data '{"n":1}'
            """)

    @Argument(help: "GET, POST, PUT, PATCH, DELETE …") var method: String
    @Argument(help: "Path below the gateway, or a URL on a host it names.") var path: String
    @Option(name: [.customShort("H"), .long], help: "A header, 'Name: value'; may be repeated.") var header: [String] =
        []
    @Option(name: .shortAndLong, help: "The body; '-' reads standard input.") var data: String?
    @OptionGroup var account: AccountOption
    @OptionGroup var options: ClientOptions

    func validate() throws {
        for line in header where !line.contains(":") {
            throw ValidationError("a header has the form 'Name: value', not '\(line)'")
        }
    }

    func run() async throws {
        var body: [String: JSON] = ["method": .string(method.uppercased()), "path": .string(path)]
        if !header.isEmpty {
            body["headers"] = .array(
                header.map { line in
                    let name = line.prefix { $0 != ":" }
                    let value = line.dropFirst(name.count + 1).drop { $0 == " " }
                    return ["name": .string(String(name)), "value": .string(String(value))]
                })
        }
        if let data {
            let bytes = data == "-" ? try Input.standardInput(limit: 1 << 19) : Array(data.utf8)
            body["body"] = .string(Base64.encode(bytes))
        }
        let answer = try await options.client.post(account.path("call"), .object(body), timeout: .seconds(180))
        let status = answer["status"]?.integer ?? 0
        if options.json {
            Terminal.line(answer.text)
        } else {
            let bytes = answer["body"]?.string.flatMap { Base64.decode($0) } ?? []
            Terminal.bytes(bytes)
            if bytes.last != UInt8(ascii: "\n"), Terminal.standardOutput.isTerminal { Terminal.line() }
        }
        guard (200..<300).contains(status) else {
            Terminal.error("latchkey: \(method.uppercased()) \(path) was answered with status \(status)")
            throw ExitCode(ExitStatus.refused.rawValue)
        }
    }
}
