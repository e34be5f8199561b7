import Foundation

/// The compiler, for tests of what must not compile.
package enum Compiler {
    /// What it says of a file that stands on the modules the tests were built with: the lines with errors.
    ///
    /// - Parameter libraries: the C modules of `Sources` that those modules need.
    package static func errors(in source: String, libraries: [String]) async throws -> [String] {
        let modules = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "Modules")
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        let file = FileManager.default.temporaryDirectory.appending(path: "latchkey-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        try source.write(to: file, atomically: true, encoding: .utf8)
        let maps = libraries.flatMap {
            ["-Xcc", "-fmodule-map-file=\(root.appending(path: "Sources/\($0)/module.modulemap").path)"]
        }
        // Not -typecheck: what becomes of a value that cannot be copied is looked at later.
        let compiled = try await Program.found.run(
            ["swiftc", "-emit-sil", "-o", "/dev/null", "-parse-as-library", "-swift-version", "6", "-I", modules.path]
                + maps + [file.path])
        return compiled.errors.split(separator: "\n").map(String.init).filter { $0.contains("error:") }
    }
}
