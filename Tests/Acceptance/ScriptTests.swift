import Foundation
import TestSupport
import Testing

@Suite("The scripts of deploy", .timeLimit(.minutes(8)))
struct ScriptTests {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardizedFileURL

    /// Runs a command of a shell in a folder of the repository.
    private func shell(
        _ command: String, in folder: String = "Tests", environment: [String: String] = [:]
    ) async throws -> Program.Result {
        let place = Self.repository.appending(path: folder).path
        return try await Program(url: URL(filePath: "/bin/sh")).run(
            ["-c", "cd '\(place)' && \(command)"], environment: environment)
    }

    @Test(
        "the scripts of deploy explain themselves, even when called by a relative path",
        arguments: [
            "bench", "check-boards", "demo", "docs", "fuzz", "install", "package", "prepare", "sanitize", "test",
            "test-examples", "test-first-boot", "test-packages",
        ])
    func help(name: String) async throws {
        let help = try await shell("../deploy/\(name) --help")
        #expect(help.status == 0)
        #expect(help.output.contains("deploy/\(name)"))
        #expect(!help.output.contains("set -euo"))
        #expect(help.errors == "")
    }

    @Test(
        "the scripts of deploy report what is wrong with the program to install",
        arguments: [
            ("--program", 64, "--program needs a file"), ("--program /nope", 66, "there is no program /nope"),
            ("--program ../README.md", 65, "README.md is not a program for Linux"),
            ("--purge", 64, "--purge can only be used with --uninstall"),
            ("--runner", 64, "--runner needs a program"), ("--runner /nope", 66, "there is no program /nope"),
        ] as [(String, Int32, String)])
    func wrongProgram(arguments: String, status: Int32, says: String) async throws {
        let refused = try await shell("../deploy/install \(arguments)", environment: ["DESTDIR": "/nowhere"])
        #expect(refused.status == status)
        #expect(refused.errors.contains(says))
        #expect(refused.errors.split(separator: "\n").count == 1)
    }

    /// Gives `body` a folder to install into.
    private func withDestination(_ body: (URL) async throws -> Void) async throws {
        let folder = URL(filePath: "/tmp/lk-install-\(UInt32.random(in: .min ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private func isThere(_ path: String, in folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: folder.appending(path: path).path)
    }

    @Test("the scripts of deploy fill a folder with a program for another processor, without running it")
    func otherProcessor() async throws {
        try await withDestination { folder in
            var program = try Data(contentsOf: URL(filePath: "/bin/true"))
            // e_machine of the ELF header: EM_S390, which no board of ours has.
            program.replaceSubrange(18..<20, with: [22, 0])
            let file = folder.appending(path: "program")
            try program.write(to: file)
            let installed = try await shell(
                "../deploy/install --program '\(file.path)'", environment: ["DESTDIR": folder.path])
            #expect(installed.status == 0, "\(installed.errors)")
            #expect(installed.errors.contains("no completions were installed"))
            #expect(installed.errors.contains("the board needs: libcurl4"))
            #expect(isThere("usr/bin/latchkey", in: folder))
            #expect(!isThere("usr/share/bash-completion/completions/latchkey", in: folder))
            let refused = try await shell("../deploy/install --program '\(file.path)'", environment: ["DESTDIR": ""])
            #expect(refused.status == 65)
            #expect(refused.errors.contains("is for a processor other than this machine's"))
        }
    }

    @Test("the scripts of deploy install a README and pages that only link to installed files, and the license")
    func installedPages() async throws {
        try await withDestination { folder in
            let program = Program(name: "latchkey").url.path
            let installed = try await shell(
                "../deploy/install --program '\(program)'", environment: ["DESTDIR": folder.path])
            #expect(installed.status == 0, "\(installed.errors)")
            #expect(isThere("usr/share/zsh/vendor-completions/_latchkey", in: folder))
            #expect(isThere("usr/lib/systemd/system/latchkey-credential.service", in: folder))
            let manual = try await shell("gzip -dc '\(folder.path)/usr/share/man/man1/latchkey.1.gz'")
            for section in [".SH NAME", ".SS \"latchkey publish\"", ".SS \"latchkey gateway use\""] {
                #expect(manual.output.contains(section), "\(section)")
            }
            let documentation = folder.appending(path: "usr/share/doc/latchkey")
            #expect(isThere("LICENSE", in: documentation))
            let security = try String(
                contentsOf: documentation.appending(path: "docs/security.md"), encoding: .utf8)
            #expect(security.contains("**The sealed store.**") && security.contains("# Security"))
            let pages = try FileManager.default.subpathsOfDirectory(atPath: documentation.path)
                .filter { $0.hasSuffix(".md") }
            #expect(pages.contains("README.md") && pages.contains("Config/local-api.md") && pages.count > 15)
            for page in pages {
                let text = try String(contentsOf: documentation.appending(path: page), encoding: .utf8)
                let place = documentation.appending(path: page).deletingLastPathComponent()
                for link in text.matches(of: /\]\(([A-Za-z.][^):#]*)[#)]/) {
                    #expect(isThere(String(link.1), in: place), "\(page): \(link.1)")
                }
            }
        }
    }
}
