import ArgumentParser
import FoundationEssentials
import Groundwork
import LocalAPI

struct Call: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call",
        abstract: "Call an API of the gateway, or of a host that may be called, as the user or as this device.",
        usage: "latchkey call [<method>] <path> [<options>]",
        discussion: """
            The access token, the identifier and the client certificate are added, and renewed when needed. The method \
            is POST if there is something to send, PUT for a file given with -T, otherwise GET. A body given with -d \
            is sent as JSON if it is an object or an array, otherwise as a form; --type overrides that. Hosts besides \
            the gateway: latchkey hosts. Exit status 76 when the answer is not a success (2xx); it is shown \
            anyway. At a terminal, a one-time password that the API demands is asked for, unless --json is given.

              $ latchkey call /lab/hello
              $ latchkey call @lab_hello
              $ latchkey call POST /orders -d '{"n":1}' --as board --scope orders
              $ latchkey call /search --query 'text=red door' --expect json
              $ latchkey call /photos -F title=door -F 'photo=@door.jpg;type=image/jpeg'
              $ latchkey call /firmware.bin -o firmware.bin
              $ latchkey call /readings -d '{"t":21}' --sign --claim site=harbor
            """)

    @Argument(help: "GET, POST, PUT, PATCH, DELETE …; may be left out.") var method: String
    @Argument(help: "Path below the gateway, @ and the name of an endpoint, or a URL on a host that may be called.")
    var path: String?
    @Option(name: [.customShort("H"), .long], help: "A header, 'Name: value'; may be repeated.") var header: [String] =
        []
    @Option(name: .shortAndLong, help: "The body; '@FILE' reads a file, '-' standard input. Several are joined by &.")
    var data: [String] = []
    @Option(help: ArgumentHelp("A field of a form, which is encoded; may be repeated.", valueName: "name=value"))
    var dataUrlencode: [String] = []
    @Option(
        name: [.customShort("F"), .long],
        help: ArgumentHelp(
            "A field of a multipart form, or name=@FILE[;type=…][;filename=…].", valueName: "name=value"))
    var form: [String] = []
    @Option(name: [.customShort("T"), .long], help: ArgumentHelp("A file of any size as the body.", valueName: "file"))
    var uploadFile: String?
    @Option(
        help: ArgumentHelp(
            "A query field, which is encoded and added to the path; may be repeated.", valueName: "name=value"))
    var query: [String] = []
    @Option(help: "Type of the body: json, form, text, xml or scim.") var type: String?
    @Option(help: "Preferred type of the answer: json, form, text, xml or scim.") var accept: String?
    @Option(help: "Required type of the answer: json, form, text, xml or scim; a success of another type is refused.")
    var expect: String?
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write the answer to a file, of any size; - is standard output.", valueName: "file"))
    var output: String?
    @Flag(name: .shortAndLong, help: "Print the head of the answer too.") var include = false
    @Option(name: [.customShort("m"), .long], help: ArgumentHelp("Limit of each attempt.", valueName: "seconds"))
    var maxTime: Int?
    @Flag(help: "Call anonymously: send no token, identifier, certificate or location.") var `public` = false
    @OptionGroup(title: "Signed bodies") var signing: SigningOptions
    @OptionGroup var principal: PrincipalOptions
    @OptionGroup var account: AccountOption
    @OptionGroup var options: ClientOptions

    func validate() throws {
        for line in header where !line.contains(":") {
            throw ValidationError("a header has the form 'Name: value', not '\(line)'")
        }
        for field in query + dataUrlencode + form where !field.contains("=") {
            throw ValidationError("a field has the form name=value, not '\(field)'")
        }
        guard [data.isEmpty, dataUrlencode.isEmpty, form.isEmpty, uploadFile == nil].count(where: { !$0 }) <= 1 else {
            throw ValidationError("give one of -d, --data-urlencode, -F and -T")
        }
        guard !`public` || (principal.principal == nil && principal.scope.isEmpty && !signing.sign) else {
            throw ValidationError("--public cannot be used with --as, --scope or --sign")
        }
        guard !signing.sign || (form.isEmpty && uploadFile == nil) else {
            throw ValidationError("--sign cannot be used with -F or -T; use -d or --data-urlencode")
        }
    }

    func run() async throws {
        let source = try source
        var request = try request(source)
        var download = try file.map { try Download(to: $0) }
        request["headers"] = .array(
            headers(source).map { ["name": .string($0.name), "value": .string($0.value)] })
        let status: Int64
        if options.json, source == nil, download == nil {
            // A person may be asked meanwhile.
            let limit = Duration.seconds(max(600, 4 * (maxTime ?? 0) + 60))
            let answer = try await options.client.post(
                account.path("call", by: options.client), .object(request), timeout: limit)
            Terminal.json(answer)
            status = answer["status"]?.integer ?? 0
        } else {
            let exchange = try await CallExchange(
                client: options.client, path: account.path("call/stream", by: options.client), asJSON: options.json,
                showsHead: include,
                output: file, prompts: asksHere ? CallPrompts(client: options.client) : nil)
            status = try await exchange.run(request, sending: source, to: &download)
        }
        guard (200..<300).contains(status) else {
            if !options.json {
                Terminal.error("latchkey: \(target.method) \(target.path) was answered with status \(status)")
            }
            throw ExitCode(ExitStatus.refused.rawValue)
        }
    }

    /// The file for the answer; `nil` for standard output.
    private var file: String? { output == "-" ? nil : output }

    /// Whether a person is here who can be asked.
    private var asksHere: Bool { !options.json && Terminal.inputIsTerminal }

    private var target: (method: String, path: String) {
        if let path { return (method.uppercased(), path) }
        let sends = !(data.isEmpty && dataUrlencode.isEmpty && form.isEmpty)
        return (uploadFile != nil ? "PUT" : sends ? "POST" : "GET", method)
    }

    /// A body that is sent in pieces.
    private var source: BodySource? {
        get throws {
            if let uploadFile { return try BodySource(file: uploadFile) }
            return form.isEmpty ? nil : try BodySource(form: form)
        }
    }

    private func request(_ source: BodySource?) throws -> [String: JSON] {
        var request = principal.members
        request["method"] = .string(target.method)
        request["path"] = .string(target.path)
        if !query.isEmpty { request["query"] = Self.pairs(query) }
        request["type"] = type.map(JSON.string)
        request["accept"] = accept.map(JSON.string)
        request["expect"] = expect.map(JSON.string)
        request["sign"] = try signing.member
        if `public` { request["public"] = true }
        request["timeoutSeconds"] = maxTime.map { .integer(Int64($0)) }
        if asksHere { request["prompts"] = "user" }
        if let source {
            request["upload"] = .integer(Int64(source.length))
        } else if !dataUrlencode.isEmpty {
            request["form"] = Self.pairs(dataUrlencode)
        } else if !data.isEmpty {
            let bytes = try body
            request["body"] = .string(Base64.encode(bytes))
            // As the caller sees it: JSON if it is JSON, otherwise what curl takes it for.
            let json = try? JSON(parsing: bytes)
            if type == nil { request["type"] = json?.object != nil || json?.array != nil ? "json" : "form" }
        }
        return request
    }

    private var body: [UInt8] {
        get throws {
            var body: [UInt8] = []
            for (index, text) in data.enumerated() {
                if index > 0 { body.append(UInt8(ascii: "&")) }
                body += try Input.given(text, limit: Input.payloadLimit)
            }
            guard body.count <= Input.payloadLimit else {
                throw InputError.tooLong(name: "the body", limit: Input.payloadLimit)
            }
            return body
        }
    }

    private func headers(_ source: BodySource?) -> [(name: String, value: String)] {
        var headers = header.map { line in
            let name = line.prefix { $0 != ":" }
            return (name: String(name), value: String(line.dropFirst(name.count + 1).drop { $0 == " " }))
        }
        if let boundary = source?.boundary {
            headers.append(("Content-Type", "multipart/form-data; boundary=\(boundary)"))
        }
        return headers
    }

    private static func pairs(_ fields: [String]) -> JSON {
        .array(
            fields.map { field in
                let name = field.prefix { $0 != "=" }
                return ["name": .string(String(name)), "value": .string(String(field.dropFirst(name.count + 1)))]
            })
    }
}
