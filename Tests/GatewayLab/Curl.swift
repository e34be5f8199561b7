import Foundation
import GatewayLab
import Groundwork

/// An HTTP client that shares nothing with the project: the curl program, with what a lab's client needs to know.
struct Curl: Sendable {
    let lab: Lab
    /// Removed with the ``Workshop`` it belongs to.
    let directory: String

    struct Reply: Sendable {
        var status: Int
        /// As they were spelled.
        var headers: [(name: String, value: String)]
        var body: [UInt8]

        var json: JSON { (try? JSON(parsing: body)) ?? .null }
        var text: String { String(decoding: body, as: UTF8.self) }
        var errorCode: String? { header("x-ca-err") }

        /// By its exact spelling (MAG quirk Q4).
        func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    /// - Parameters:
    ///   - path: below the base URL, with the query.
    ///   - form: percent-encoded here.
    ///   - identity: of a PEM file with certificate and key, shown in the handshake.
    /// - Throws: `ProgramFailure` with curl's exit status, such as 35 or 60 for TLS and 52 for no answer.
    func send(
        _ method: String, _ path: String, headers: [String: String] = [:], form: [(String, String)]? = nil,
        body: [UInt8]? = nil, identity: String? = nil
    ) async throws -> Reply {
        let id = UUID().uuidString
        let (head, content) = ("\(directory)/\(id).head", "\(directory)/\(id).body")
        var arguments = [
            "-sS", "--http1.1", "--max-time", "120", "-X", method, "-D", head, "-o", content, "--cacert",
            try authorityFile(),
        ]
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) {
            // curl sends an empty header for "name;" and drops it for "name:".
            arguments += ["-H", value.isEmpty ? "\(name);" : "\(name): \(value)"]
        }
        for (name, value) in form ?? [] { arguments += ["--data-urlencode", "\(name)=\(value)"] }
        if let body {
            let file = "\(directory)/\(id).send"
            try Data(body).write(to: URL(fileURLWithPath: file))
            arguments += ["--data-binary", "@\(file)"]
        }
        if let identity { arguments += ["--cert", identity] }
        _ = try await run("curl", arguments + [path.hasPrefix("https:") ? path : lab.baseURL + path])
        let lines = try String(contentsOfFile: head, encoding: .utf8).split(whereSeparator: \.isNewline)
        let pairs = lines.dropFirst().compactMap { line -> (String, String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (String(line[..<colon]), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
        }
        let data = FileManager.default.contents(atPath: content) ?? Data()
        return Reply(
            status: Int(lines.first?.split(separator: " ").dropFirst().first ?? "") ?? 0, headers: pairs,
            body: Array(data))
    }

    private func authorityFile() throws -> String {
        let path = "\(directory)/ca-\(lab.port).pem"
        try Data(lab.caCertificatePEM.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }
}

/// A program that ended otherwise than well.
struct ProgramFailure: Error {
    var program: String
    var status: Int32
    var errors: String
}

/// What a program said that ended well.
struct Finished: Sendable {
    var output: String
    var errors: String
}

/// Runs a program to its end.
/// - Throws: ``ProgramFailure``
@discardableResult
func run(_ program: String, _ arguments: [String], input: [UInt8] = []) async throws -> Finished {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("lab-tests-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    // Files and not pipes: nobody has to read them meanwhile.
    func file(_ name: String, _ content: [UInt8] = []) throws -> FileHandle {
        let url = scratch.appendingPathComponent(name)
        try Data(content).write(to: url)
        return try FileHandle(forUpdating: url)
    }
    let (output, errors) = (try file("output"), try file("errors"))
    let given = try file("input", input)
    // A process keeps its files open for good, and Foundation's next start reads past its buffer when more than a
    // thousand are open.
    defer { for handle in [output, errors, given] { try? handle.close() } }
    process.standardInput = given
    process.standardOutput = output
    process.standardError = errors
    let (ended, end) = AsyncStream<Void>.makeStream()
    process.terminationHandler = { _ in end.finish() }
    try process.run()
    for await _ in ended {}
    guard !process.isRunning else {
        // The test was canceled, by its time limit. SIGTERM would leave it to the program when it ends.
        kill(process.processIdentifier, SIGKILL)
        throw CancellationError()
    }
    func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: scratch.appendingPathComponent(name)), as: UTF8.self)
    }
    guard process.terminationStatus == 0 else {
        throw ProgramFailure(program: program, status: process.terminationStatus, errors: try text("errors"))
    }
    return Finished(output: try text("output"), errors: try text("errors"))
}
