import ArgumentParser
import Foundation
import Glibc
import Groundwork
import LocalAPI
import Synchronization
import TestSupport
import Testing

@testable import latchkey

@Suite("Output of the command", .timeLimit(.minutes(5)))
struct OutputTests {
    /// A folder for the body alone.
    private func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "output-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.path)
    }

    private func kind(of path: String) -> (type: mode_t, mode: mode_t) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return (0, 0) }
        return (status.st_mode & S_IFMT, status.st_mode & 0o777)
    }

    private func download(_ text: String, to path: String) throws {
        var download = try Download(to: path)
        try download.begin(200)
        try download.write(Array(text.utf8))
        try download.finish()
        #expect(!FileManager.default.fileExists(atPath: path + ".part"))
    }

    private func text(of path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test("a FIFO is written to and stays one, also behind a symbolic link", arguments: ["fifo", "link"])
    func fifo(name: String) async throws {
        try await withFolder { folder in
            let fifo = "\(folder)/fifo"
            try #require(mkfifo(fifo, 0o600) == 0)
            try #require(symlink("fifo", "\(folder)/link") == 0)
            let reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            defer { close(reader) }
            func received() -> String {
                var bytes = [UInt8](repeating: 0, count: 100)
                let count = read(reader, &bytes, bytes.count)
                return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            }
            try download("answer", to: "\(folder)/\(name)")
            #expect(received() == "answer")
            #expect(try Output.newFileOrNode("\(folder)/\(name)", Array("bundle".utf8)))
            #expect(received() == "bundle")
            #expect(kind(of: fifo).type == S_IFIFO)
            #expect(kind(of: "\(folder)/link").type == S_IFLNK)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 2)
        }
    }

    @Test("a file that is replaced keeps its mode, and a symbolic link to it or to nothing stays one")
    func replaced() async throws {
        try await withFolder { folder in
            let file = "\(folder)/file"
            try "old and longer".write(toFile: file, atomically: false, encoding: .utf8)
            try #require(chmod(file, 0o600) == 0)
            try download("new", to: file)
            #expect(try text(of: file) == "new")
            #expect(kind(of: file) == (S_IFREG, 0o600))
            try #require(mkdir("\(folder)/below", 0o700) == 0)
            for (link, target) in [("link", "../file"), ("chain", "link"), ("dangling", "../later")] {
                let path = "\(folder)/below/\(link)"
                try #require(symlink(target, path) == 0)
                try download(link, to: path)
                #expect(kind(of: path).type == S_IFLNK)
                #expect(try text(of: path) == link)
            }
            #expect(try text(of: file) == "chain")
            #expect(kind(of: file) == (S_IFREG, 0o600))
            #expect(try text(of: "\(folder)/later") == "dangling")
            #expect(try !Output.newFileOrNode(file, [1]))
            #expect(try text(of: file) == "chain")
        }
    }

    @Test("messages are saved in a directory that is made if it is missing, and looked for before one comes")
    func directory() async throws {
        try await withFolder { folder in
            try "".write(toFile: "\(folder)/file", atomically: false, encoding: .utf8)
            for name in ["file", "nothing/below"] {
                let command = try Subscribe.parse(["--save", "\(folder)/\(name)", "--socket", "\(folder)/none.sock"])
                await #expect {
                    try await command.run()
                } throws: {
                    guard case .unwritable(let path, _) = $0 as? InputError else { return false }
                    return path == "\(folder)/\(name)"
                }
            }
            #expect(try !Output.makeDirectory(folder))
            #expect(try Output.makeDirectory(folder + "/new"))
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/new")
            #expect(attributes[.posixPermissions] as? Int == 0o700)
        }
    }

    // MARK: The program

    private struct Ended {
        let status: Int32
        let output: [UInt8]
        let errors: String
    }

    /// Runs `"$0" "$@"`, which is `latchkey`, in a shell.
    private func shell(_ line: String, _ arguments: [String], output: FileHandle? = nil) async throws -> Ended {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        let program = URL(filePath: bundle).deletingLastPathComponent().appending(path: "latchkey").path
        let (process, out, errors) = (Process(), try PrivatePipe(), try PrivatePipe())
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", line, program] + arguments
        process.standardOutput = output ?? out.writing
        process.standardError = errors.writing
        let (ends, continuation) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = {
            continuation.yield($0.terminationReason == .exit ? $0.terminationStatus : 128 + $0.terminationStatus)
            continuation.finish()
        }
        try process.run()
        for pipe in [out, errors] { try pipe.writing.close() }
        var status: Int32 = -1
        for await value in ends { status = value }
        // Both are shorter than what a pipe holds.
        return Ended(
            status: status, output: Array(try out.reading.readToEnd() ?? Data()),
            errors: String(decoding: try errors.reading.readToEnd() ?? Data(), as: UTF8.self))
    }

    /// An agent with one message in the inbox `orders`.
    ///
    /// - Returns: how often messages were acknowledged.
    private func withInbox(_ use: (_ socket: String) async throws -> Void) async throws -> Int {
        let counter = Counter()
        try await withFolder { folder in
            var router = Router()
            let query: [String: Schema] = ["after": .integer(""), "limit": .integer("")]
            router.on(
                "GET", "/v1/inbox/{name}", needs: .read, .init("Messages", query: query, answer: .openObject(""))
            ) { request in
                let isFirst = request.query["after"] == "0"
                return .json(["messages": isFirst ? [["id": 7, "text": "an order"]] : []])
            }
            let body: [String: Schema] = ["id": .integer("")]
            router.on(
                "POST", "/v1/inbox/{name}/acknowledge", needs: .publish,
                .init("Read", body: body, answer: .openObject(""))
            ) { _ in
                counter.add()
                return .json(["removed": 1])
            }
            let socket = "\(folder)/api.sock"
            let server = LocalServer(socketPath: socket, policy: AccessPolicy(owners: [getuid()]), router: router)
            try server.listen()
            let serving = Task { try await server.run() }
            try await use(socket)
            serving.cancel()
            try await serving.value
        }
        return counter.value
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    @Test("messages that could not be written are not acknowledged, and the command says why it failed")
    func fullDisk() async throws {
        let read = ["inbox", "read", "orders", "--ack", "--payload", "line", "--socket"]
        let lost = try await withInbox { socket in
            let ended = try await shell(#""$0" "$@" >/dev/full"#, read + [socket])
            #expect(ended.status == 74)
            #expect(ended.errors.contains("cannot write to standard output: No space left on device"))
            let asJSON = try await shell(
                #""$0" "$@" >/dev/full"#, ["inbox", "read", "orders", "--ack", "--json", "--socket", socket])
            #expect(asJSON.status == 74)
            #expect(asJSON.errors.contains(#""code":"output.broken""#))
            for line in [#"exec "$0" "$@""#, #"trap "" PIPE; exec "$0" "$@""#] {
                let pipe = try PrivatePipe()
                try pipe.reading.close()
                let ended = try await shell(line, read + [socket], output: pipe.writing)
                #expect(ended.status != 0)
                #expect(ended.errors == "")
            }
        }
        #expect(lost == 0)
        let taken = try await withInbox { socket in
            let ended = try await shell(#""$0" "$@""#, read + [socket])
            #expect(ended.status == 0)
            #expect(ended.output == Array("an order\n".utf8))
        }
        #expect(taken == 1)
    }

    @Test(
        "a command that needs no daemon fails, too, when nobody can read its output",
        arguments: ["--version", "--help", "explain 990"])
    func everyCommand(arguments: String) async throws {
        let ended = try await shell(
            #""$0" "$@" >/dev/full"#, arguments.split(separator: " ").map(String.init))
        #expect(ended.status == 74)
    }

    @Test("an argument that is not UTF-8 is refused before it is altered, and the sign for such bytes is none")
    func bytes() async throws {
        let socket = ["--socket", "/nowhere/api.sock"]
        let ended = try await shell(#""$0" publish door "$(printf 'x\377')" "$@""#, socket)
        #expect(ended.status == 64)
        #expect(ended.errors.contains("argument 3 is not UTF-8") && ended.errors.contains("standard input"))
        let sign = try await shell(#""$0" publish door "$(printf 'x\357\277\275')" "$@""#, socket)
        #expect(sign.status == 69)
    }
}
