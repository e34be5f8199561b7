import Cryptography
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Vault

/// The tests with tokens, one after another: SoftHSM cannot read a token's file while another process writes it, and
/// programs of others do.
@Suite("PKCS#11", .serialized, .enabled(if: SoftHSM.isInstalled, "softhsm2 is not installed"))
enum SoftwareTokenTests {}

/// SoftHSM with tokens of its own in a temporary folder, which all tests of the process share: it reads where they are
/// when it is initialized. Each test takes a token for itself.
final class SoftHSM: Sendable {
    static let library = "/usr/lib/softhsm/libsofthsm2.so"
    static let isInstalled = FileManager.default.fileExists(atPath: library)
    static let pin = "123456"
    static let shared = try! SoftHSM()  // Without it there is nothing to test.

    /// With the others and a slot that is free, as many as a module may have.
    private static let count = 61
    /// None is the beginning of another: OpenSC's tool takes that for the same.
    private static func label(_ number: Int) -> String { "token \(100 + number)" }

    let folder: String
    let module = TokenModule(path: library, trustsThisUser: true)
    private let next = Mutex(0)

    private init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/latchkey-softhsm-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder + "/tokens", withIntermediateDirectories: true)
        try """
        directories.tokendir = \(folder)/tokens
        objectstore.backend = file
        log.level = ERROR
        slots.removable = false
        """.write(toFile: configuration, atomically: true, encoding: .utf8)
        // The first change of the environment makes a new table, so that others who read the old one are not disturbed.
        setenv("SOFTHSM2_CONF", configuration, 1)
        // It makes itself known before it is initialized here, since it reads its tokens once.
        for label in (0..<Self.count).map(Self.label) + ["twin", "twin"] {
            try run([
                "softhsm2-util", "--init-token", "--free", "--label", label, "--pin", Self.pin, "--so-pin", "12345678",
            ])
        }
        // It crashes in the process's own exit handlers if it still works by then.
        try module.inTurn { _ in }
        atexit {
            SoftHSM.shared.module.finalize()
            try? FileManager.default.removeItem(atPath: SoftHSM.shared.folder)
        }
    }

    private var configuration: String { folder + "/softhsm2.conf" }

    /// Runs a program that uses the same tokens to its end.
    ///
    /// - Returns: what it says.
    @discardableResult
    func run(_ arguments: [String]) throws -> String {
        let said = folder + "/output-" + UUID().uuidString
        defer { unlink(said) }
        let streams = [
            open("/dev/null", O_RDONLY | O_CLOEXEC),
            open(said, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0o600),
        ]
        defer { for stream in streams { close(stream) } }
        let variables = ProcessInfo.processInfo.environment.merging(["SOFTHSM2_CONF": configuration]) { $1 }
        let process = try ChildProcess.spawnUnmarked(
            ["/usr/bin/env"] + arguments, variables: variables.map { "\($0.key)=\($0.value)" },
            streams: streams + [streams[1]])
        let status = ChildProcess.waitForExit(of: process)
        let output = try String(contentsOfFile: said, encoding: .utf8)
        guard status == 0 else { throw Unexpected("\(arguments.joined(separator: " ")): \(output)") }
        return output
    }

    /// The label of a token that no other test uses.
    func takeToken() throws -> String {
        let number = next.withLock { number in
            defer { number += 1 }
            return number
        }
        guard number < Self.count else { throw Unexpected("more tokens are needed than were made") }
        return Self.label(number)
    }
}
