import Foundation
import Groundwork
import TestSupport
import Testing

@testable import LocalAPI

@Suite("Life of the server", .timeLimit(.minutes(5)))
struct LifeTests {
    @Test("the server removes its socket when it ends")
    func removesSocket() async throws {
        let served = try Served()
        #expect(FileManager.default.fileExists(atPath: served.path))
        try await served.stop()
        #expect(!FileManager.default.fileExists(atPath: served.path))
    }

    @Test("the server starts on the socket that a dead daemon left behind")
    func staleSocket() async throws {
        let directory = try Served.makeDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = "\(directory)/api.sock"
        // The program that bound it has gone, and its socket listens no more.
        try DeadDaemon.leaveSocket(at: path)
        let served = try Served(at: path)
        #expect(try await served.ask("GET", "/v1/peer").status == 200)
        try await served.stop()
    }

    @Test("the server does not start while another serves there, which continues")
    func secondServer() async throws {
        let first = try Served()
        #expect(throws: LocalAPIError.alreadyRunning(path: first.path)) { try Served(at: first.path) }
        #expect(try await first.ask("GET", "/v1/peer").status == 200)
        try await first.stop()
        let next = try Served(at: first.path)
        #expect(try await next.ask("GET", "/v1/peer").status == 200)
        try await next.stop()
    }

    @Test("the server starts only once of many at the same time")
    func manyServers() async throws {
        let directory = try Served.makeDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = "\(directory)/api.sock"
        try DeadDaemon.leaveSocket(at: path)
        let servers = await withTaskGroup(of: Served?.self) { group in
            for _ in 1...20 { group.addTask { try? Served(at: path) } }
            return await group.reduce(into: [Served]()) { if let served = $1 { $0.append(served) } }
        }
        #expect(servers.count == 1)
        #expect(try await servers.first?.ask("GET", "/v1/peer").status == 200)
        try await servers.first?.stop()
    }

    @Test("a program that is being started meanwhile does not keep the next socket from its folder")
    func startedProgram() async throws {
        let directory = try Served.makeDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        // Until it is another program, each of them has a copy of every descriptor of ours.
        let programs = Task { while !Task.isCancelled { _ = try await OtherProgram.output(of: ["true"]) } }
        for _ in 0..<1_000 {
            let socket = try ListeningSocket(at: "\(directory)/api.sock", group: nil)
            socket.removeFile()
        }
        programs.cancel()
        try? await programs.value
    }

    @Test("a folder that somebody keeps locked who may read it keeps no server from listening there")
    func lockedFolder() async throws {
        let directory = try Served.makeDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let other = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(other) }
        #expect(flock(other, LOCK_EX) == 0)
        let served = try Served(at: "\(directory)/api.sock")
        #expect(try await served.ask("GET", "/v1/peer").status == 200)
        try await served.stop()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
    }

    @Test("the server leaves a file alone that is not a socket")
    func otherFile() throws {
        let directory = try Served.makeDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = "\(directory)/api.sock"
        try Data("precious".utf8).write(to: URL(filePath: path))
        #expect(throws: LocalAPIError.cannotListen(path: path, reason: "the file there is not a socket")) {
            try Served(at: path)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test("the server leaves a successor's socket alone")
    func successor() async throws {
        let first = try Served()
        try FileManager.default.removeItem(atPath: first.path)
        let second = try Served(at: first.path)
        try await first.stop()
        #expect(try await second.ask("GET", "/v1/peer").status == 200)
        try await second.stop()
    }

    @Test(
        "the server says why it cannot listen",
        arguments: ["/nowhere/at/all/api.sock", "/tmp/\(String(repeating: "x", count: 120))"])
    func cannotListen(path: String) {
        let error = #expect(throws: LocalAPIError.self) { try Served(at: path) }
        #expect(error?.code == "local-api.cannot-listen")
        #expect(error?.message.contains(path) == true)
    }

    @Test("the server serves again after it was stopped and run once more")
    func runAgain() async throws {
        let directory = try Served.makeDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var router = Router()
        router.on("GET", "/v1/peer", needs: .read, .init("Who asks", answer: .openObject(""))) { _ in .json([:]) }
        let server = LocalServer(
            socketPath: "\(directory)/api.sock", policy: AccessPolicy(owners: [getuid()]), router: router)
        for _ in 1...3 {
            try server.listen()
            let running = Task { try await server.run() }
            #expect(try await LocalClient(socketPath: "\(directory)/api.sock").get("/v1/peer") == [:])
            running.cancel()
            try await running.value
        }
    }

    @Test("the server ends while clients connect and disconnect, whatever they are doing", arguments: 1...10)
    func stopUnderLoad(round: Int) async throws {
        let served = try Served()
        let paths = ["/v1/peer", "/v1/events", "/v1/flood", "/v1/wait", "/v1/few", "/v1/nothing"]
        await withTaskGroup(of: Void.self) { group in
            for path in paths {
                group.addTask {
                    // Until the server is gone.
                    while !Task.isCancelled, let client = try? served.connect() {
                        try? await client.write(Served.request("GET", path))
                        _ = await client.isReadable(within: .milliseconds(round))
                    }
                }
            }
            await served.waits.pass()
            try? await served.stop()
        }
        #expect(!FileManager.default.fileExists(atPath: served.path))
        served.opened.open()
    }

    @Test("the server has one thread, by the name local-api")
    func thread() async throws {
        let served = try Served()
        _ = try await served.ask("GET", "/v1/peer")
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").compactMap {
            try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)
        }
        #expect(names.contains("local-api\n"))
        try await served.stop()
    }
}

/// What a daemon leaves behind that was killed.
enum DeadDaemon {
    static func leaveSocket(at path: String) throws {
        let socket = try ListeningSocket(at: path, group: nil)
        _ = consume socket
        #expect(FileManager.default.fileExists(atPath: path))
    }
}
