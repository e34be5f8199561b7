import Foundation

/// The compiler, for tests of what must not compile.
package enum Compiler {
    /// What it says of a file that stands on the modules the tests were built with: the lines with errors.
    ///
    /// - Parameter libraries: the C modules of `Sources` that those modules need.
    /// - Throws: ``Unexpected`` when a module is missing.
    package static func errors(in source: String, libraries: [String]) async throws -> [String] {
        let build = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        let file = FileManager.default.temporaryDirectory.appending(path: "latchkey-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: file) }
        try source.write(to: file, atomically: true, encoding: .utf8)
        let maps = libraries.flatMap { name in
            // Of a library with sources, the map is made by the build.
            let places = [root.appending(path: "Sources/\(name)"), build.appending(path: "\(name).build")]
                .map { $0.appending(path: "module.modulemap").path }
            let found = places.first(where: FileManager.default.fileExists) ?? places[0]
            return ["-Xcc", "-fmodule-map-file=\(found)"]
        }
        // Not -typecheck: what becomes of a value that cannot be copied is looked at later.
        let compiled = try await Program.found.run(
            [
                "swiftc", "-emit-sil", "-o", "/dev/null", "-parse-as-library", "-swift-version", "6", "-I",
                build.appending(path: "Modules").path,
            ]
                + maps + [file.path])
        let errors = compiled.errors.split(separator: "\n").map(String.init).filter { $0.contains("error:") }
        // Else nothing would compile, and a test of what must not would hold for no reason.
        let missing = ["no such module", "missing required module"]
        if let error = errors.first(where: { error in missing.contains(where: error.contains) }) {
            throw Unexpected(error)
        }
        return errors
    }
}
