import Foundation
import Groundwork

/// The known computations of every file in `Vectors`; a file may have only some of the arrays (MPIN 11).
enum VectorFiles {
    /// One element, with the file it is from as its description.
    struct Entry: Sendable, CustomStringConvertible {
        let file: String
        let name: String
        let json: JSON
        var description: String { "\(file): \(name)" }

        subscript(key: String) -> JSON? { json[key] }
        func text(_ path: String...) -> String? { path.reduce(json) { $0?[$1] }?.string }
        /// `nil` for what is missing, empty or not hexadecimal.
        func bytes(_ path: String...) -> [UInt8]? {
            path.reduce(json) { $0?[$1] }?.string.flatMap(Hex.decode).flatMap { $0.isEmpty ? nil : $0 }
        }
        func number(_ path: String...) -> Int64? { path.reduce(json) { $0?[$1] }?.integer }
    }

    /// One file; its path is relative to the folder.
    struct File: Sendable, CustomStringConvertible {
        let path: String
        let json: JSON
        var description: String { path }
    }

    static let authentications = entries("vectors")
    static let pinMapping = entries("pin_mapping")
    static let accessNumbers = entries("access_numbers")
    static let invalidPoints = entries("invalid_points")
    static let hashesToPoints = entries("hash_to_point")
    static let arrays = ["vectors", "pin_mapping", "access_numbers", "invalid_points", "hash_to_point"]

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors")

    static let files: [File] = {
        // What cannot be read must not shorten the tests.
        let paths = try! FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        return paths.filter { $0.lowercased().hasSuffix(".json") }.map { path in
            let bytes = try! Data(contentsOf: folder.appending(path: path))
            return File(path: path, json: try! JSON(parsing: bytes, limit: 64 << 20))
        }
    }()

    private static func entries(_ array: String) -> [Entry] {
        files.flatMap { file in
            (file.json[array]?.array ?? []).enumerated().map { index, entry in
                let name = ["id", "why", "pin", "number", "hash"].lazy.compactMap { entry[$0]?.string }.first
                return Entry(file: file.path, name: name ?? "\(array) \(index)", json: entry)
            }
        }
    }
}
