import Foundation
import GatewayLab
import Glibc
import TestSupport
import Testing

/// Enrollments that wait for the agent: in a file, in a credential.
@Suite("Unattended first boot", .timeLimit(.minutes(15)))
struct FirstBootTests {
    private struct Scene {
        let lab: Lab
        let board: TestBoard
        let file: URL

        func write(_ text: String) throws { try Data(text.utf8).write(to: file) }
        var isThere: Bool { FileManager.default.fileExists(atPath: file.path) }
        func enrollment() async throws -> Any? { try await board.ask("status")["enrollment"] }
        func doctor() async throws -> [String: Any]? {
            let report = try JSONSerialization.jsonObject(
                with: Data(try await board.latchkey("doctor", "--json").output.utf8))
            return (value(report, "checks") as? [[String: Any]])?.first { $0["name"] as? String == "first-boot" }
        }
        func restart() async throws {
            try await board.stop()
            try await board.start()
        }
    }

    /// A board that has not started yet, whose settings name a file; it does not exist yet.
    private func withScene(helper: String = "", _ body: (Scene) async throws -> Void) async throws {
        let folder = URL(filePath: "/tmp/lk-boot-\(UInt32.random(in: .min ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "enroll.url")
        let board = try TestBoard(settings: "[enrollment]\nfile = \"\(file.path)\"\nhelper = \"\(helper)\"\n")
        let lab = try await Lab.start()
        let started = StartedPrograms()
        defer { started.endAll() }
        do {
            try await StartedPrograms.$here.withValue(started) {
                try await body(Scene(lab: lab, board: board, file: file))
            }
        } catch {
            let failure = board.withLastWords(error)
            try? await board.tearDown()
            await lab.stop()
            throw failure
        }
        try await board.tearDown()
        await lab.stop()
    }

    @Test("an enrollment URL in a file enrolls the board once its gateway is there, and is wiped from the file")
    func file() async throws {
        try await withScene { scene in
            let (lab, board) = (scene.lab, scene.board)
            lab.inject(Fault(.status(503), at: .enrollment, times: 1))
            // As an editor of another system writes it.
            try scene.write("\u{FEFF}\(try await lab.mintEnrollmentURL())\r\n")
            try await board.start()
            let log = try #require(board.daemon).errors
            _ = try await log.line(containing: "enrollment.did-fail")
            _ = try await log.line(containing: "enrollment.taken")
            _ = try await log.line(containing: "enrollment.wiped")
            let status = try await board.status { $0.registration.state == "registered" }
            #expect(status.gateway?.url == lab.baseURL && !scene.isThere)
            #expect(value(try await scene.enrollment(), "state") as? String == "taken")
            #expect(try await scene.doctor()?["verdict"] as? String == "pass")
            #expect(!log.text.contains("subjectKeyHash"))

            // An enrolled board leaves what it finds alone, and names it.
            let requests = lab.requestCounts[.enrollment, default: 0]
            try scene.write(try await lab.mintEnrollmentURL())
            try await scene.restart()
            _ = try await #require(board.daemon).errors.line(containing: "enrollment.not-used")
            #expect(value(try await scene.enrollment(), "error", "code") as? String == "enrollment.unneeded")
            #expect(try await scene.doctor()?["verdict"] as? String == "warn")
            #expect(lab.requestCounts[.enrollment, default: 0] == requests && scene.isThere)
            #expect(await lab.devices().count == 1)
        }
    }

    @Test("an enrollment file that can never be used is refused once, and again only when it changes")
    func refused() async throws {
        try await withScene { scene in
            let (lab, board) = (scene.lab, scene.board)
            // It must not lead the agent to another file.
            try scene.write("file:///etc/shadow\n")
            try await board.start()
            _ = try await #require(board.daemon).errors.line(containing: "enrollment.refused")
            #expect(value(try await scene.enrollment(), "error", "code") as? String == "enrollment.malformed")
            #expect(try await scene.doctor()?["verdict"] as? String == "fail")

            // A URL that was used before.
            let url = try await lab.mintEnrollmentURL()
            let other = try TestBoard()
            try await other.start()
            try await other.enroll(url)
            try await other.tearDown()
            try scene.write(url)
            try await scene.restart()
            _ = try await #require(board.daemon).errors.line(containing: "enrollment.refused")
            let requests = lab.requestCounts[.enrollment, default: 0]
            try await scene.restart()
            _ = try await #require(board.daemon).errors.line(containing: "enrollment.not-used")
            #expect(value(try await scene.enrollment(), "error", "code") as? String == "enrollment.refused-before")
            #expect(try await scene.doctor()?["verdict"] as? String == "fail")
            #expect(lab.requestCounts[.enrollment, default: 0] == requests && scene.isThere)

            try scene.write(try await lab.mintEnrollmentURL())
            try await scene.restart()
            _ = try await board.status { $0.registration.state == "registered" }
            #expect(!scene.isThere)
        }
    }

    @Test("a document in a credential enrolls the board once, not again after a person removed the account")
    func credential() async throws {
        try await withScene { scene in
            let (lab, board) = (scene.lab, scene.board)
            let document = Data(try await lab.configurationDocument())
            try document.write(to: scene.file.deletingLastPathComponent().appending(path: "latchkey.enroll"))
            board.environment["CREDENTIALS_DIRECTORY"] = scene.file.deletingLastPathComponent().path
            try await board.start()
            _ = try await board.status { $0.registration.state == "registered" }
            _ = try await board.ask("deregister", "--yes")
            _ = try await board.ask("accounts", "remove", "gateway")
            try await scene.restart()
            _ = try await #require(board.daemon).errors.line(containing: "enrollment.not-used")
            #expect(value(try await scene.enrollment(), "error", "code") as? String == "enrollment.used")
            #expect(try await board.status().registration.state == "unregistered")
        }
    }

    @Test(
        "an enrollment file for root alone is read and removed by the helper, and reported without the helper",
        .enabled(if: geteuid() == 0, "needs root, to take rights away from the agent"))
    func helper() async throws {
        let socket = try ActionSocket()
        defer { socket.remove() }
        try await withScene(helper: socket.path) { scene in
            let (lab, board, folder) = (scene.lab, scene.board, scene.file.deletingLastPathComponent())
            // Root without its rights over others' files, as the service's user is over root's.
            board.launcher = [
                "/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner",
                "--inh-caps=-dac_override,-dac_read_search,-fowner",
            ]
            func hide(_ mode: mode_t) throws {
                #expect(chown(scene.file.path, 65_534, 65_534) == 0 && chmod(scene.file.path, mode) == 0)
                #expect(chown(folder.path, 65_534, 65_534) == 0 && chmod(folder.path, 0o755) == 0)
            }
            try scene.write(try await lab.mintEnrollmentURL())
            try hide(0o600)
            try await board.start()
            _ = try await #require(board.daemon).errors.line(containing: "enrollment.refused")
            #expect(value(try await scene.enrollment(), "error", "code") as? String == "enrollment.unreadable")

            // Readable, but not to be removed.
            try hide(0o644)
            try await scene.restart()
            _ = try await #require(board.daemon).errors.line(containing: "enrollment.not-wiped")
            #expect(scene.isThere)
            #expect(try await scene.doctor()?["verdict"] as? String == "warn")
            _ = try await board.status { $0.registration.state == "registered" }

            let helper = try await socket.listen(settings: board.configuration, command: ["first-boot"])
            try await scene.restart()
            _ = try await #require(board.daemon).errors.line(containing: "enrollment.wiped")
            #expect(!scene.isThere)
            #expect(lab.requestCounts[.enrollment, default: 0] == 1)

            // And neither readable nor to be removed, for a board that begins anew.
            _ = try await board.ask("deregister", "--yes")
            _ = try await board.ask("accounts", "remove", "gateway")
            try scene.write(try await lab.mintEnrollmentURL())
            try hide(0o600)
            try await scene.restart()
            _ = try await board.status { $0.registration.state == "registered" }
            _ = try await #require(board.daemon).errors.line(containing: "enrollment.wiped")
            #expect(!scene.isThere)
            try await helper.stop(SIGKILL)
        }
    }
}
