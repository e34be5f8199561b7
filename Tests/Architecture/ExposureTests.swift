import Foundation
import TestSupport
import Testing

/// What systemd itself thinks of the unit: 0 is a program that can do nothing, 10 one that may do everything.
@Suite("Exposure of the shipped service", .timeLimit(.minutes(5)))
struct ExposureTests {
    private static let analyze = ["/usr/bin/systemd-analyze", "/bin/systemd-analyze"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    private static let units = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../deploy/systemd").standardizedFileURL

    /// What is said of the service with a drop-in, and only then.
    private static let signs = [
        "latchkey-bluetooth.conf": "Service has network configuration privileges",
        "latchkey-device-tree.conf": "char-input:r",
        "latchkey-keypad.conf": "char-input:r",
    ]

    @Test(
        "the agent's unit scores at most 2.0, with each drop-in that comes with it too",
        arguments: [nil] + signs.keys.sorted())
    func score(dropIn: String?) async throws {
        try await expectLittleExposure(of: "latchkey.service", dropIn: dropIn)
    }

    @Test("the agent's unit scores at most 2.0 with the drop-in for a TPM, which gives it a group")
    func chip() async throws {
        try await expectLittleExposure(
            of: "latchkey.service", dropIn: "latchkey-tpm.conf", says: "Service runs with supplementary groups")
    }

    @Test("the agent's unit scores at most 2.0 with the drop-in for a token")
    func token() async throws {
        try await expectLittleExposure(of: "latchkey.service", dropIn: "latchkey-pkcs11.conf")
    }

    @Test("the unit of actions scores no more exposure than the agent's")
    func actions() async throws { try await expectLittleExposure(of: "latchkey-actions@.service", dropIn: nil) }

    @Test("the unit that wipes the enrollment of the first boot, as root, scores little exposure")
    func firstBoot() async throws { try await expectLittleExposure(of: "latchkey-first-boot@.service", dropIn: nil) }

    /// - Parameter remark: what systemd has to say of the unit too.
    private func expectLittleExposure(
        of name: String, dropIn: String?, says remark: String? = nil
    ) async throws {
        let analyze = try #require(Self.analyze, "install the Debian package systemd")
        let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-unit-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let unit = folder.appending(path: name)
        let dropIns = folder.appending(path: "\(name).d")
        try FileManager.default.createDirectory(at: dropIns, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: Self.units.appending(path: name), to: unit)
        if let dropIn {
            try FileManager.default.copyItem(
                at: Self.units.appending(path: dropIn), to: dropIns.appending(path: dropIn))
        }

        let text = try await Program.found.run([analyze, "security", "--offline=true", "--no-pager", unit.path]).output
        let line = try #require(text.split(separator: "\n").last { $0.contains("Overall exposure level") }, "\(text)")
        let score = try #require(line.split(separator: ":").last?.split(separator: " ").first.flatMap { Double($0) })
        print("exposure: \(score)\(dropIn.map { " with \($0)" } ?? "")")
        #expect(score <= 2.0, "\(text.split(separator: "\n").filter { $0.hasPrefix("✗") }.joined(separator: "\n"))")
        if let remark { #expect(text.contains(remark), "\(text)") }
        // The drop-in was read at all.
        let expected = dropIn.flatMap { Self.signs[$0] }
        for sign in Set(Self.signs.values) { #expect(text.contains(sign) == (sign == expected), "\(sign)") }
    }

    @Test("the agent's memory, in which keys lie, is never swapped to a disk")
    func swap() throws {
        let unit = try String(contentsOf: Self.units.appending(path: "latchkey.service"), encoding: .utf8)
        #expect(unit.contains("\nMemorySwapMax=0\n"))
    }

    @Test("the agent's bus policy allows it to talk to bluetoothd, and nobody anything else")
    func busPolicy() throws {
        let policy = try String(contentsOf: Self.units.appending(path: "latchkey-dbus.conf"), encoding: .utf8)
        let rules = policy.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { line in ["<policy", "<allow", "<deny"].contains { line.hasPrefix($0) } }
        #expect(
            rules == [#"<policy user="latchkey">"#, #"<deny own="*"/>"#, #"<allow send_destination="org.bluez"/>"#])
    }

    @Test("the agent's unit bounds memory and tasks below the smallest board, and slows before it ends")
    func bounds() throws {
        let unit = try String(contentsOf: Self.units.appending(path: "latchkey.service"), encoding: .utf8)
        func value(_ name: String, _ suffix: String = "") throws -> Int {
            let line = try #require(
                unit.split(separator: "\n").first { $0.hasPrefix("\(name)=") }, "the unit has no \(name)=")
            return try #require(Int(line.dropFirst(name.count + 1).dropLast(suffix.count)))
        }
        let (high, max) = (try value("MemoryHigh", "M"), try value("MemoryMax", "M"))
        // A Zero 2 W has 512 MiB; the outbox may be in memory, where it has 64 MiB unless the settings say more.
        #expect((128..<max).contains(high) && max <= 256)
        #expect((64...256).contains(try value("TasksMax")))
    }
}
