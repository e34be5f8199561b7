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

    static let authentications = entries("vectors")
    static let pinMapping = entries("pin_mapping")
    static let accessNumbers = entries("access_numbers")
    static let invalidPoints = entries("invalid_points")
    static let hashesToPoints = entries("hash_to_point")

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors")

    private static let documents: [(file: String, json: JSON)] = {
        // What cannot be read must not shorten the tests.
        let files = try! FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        return files.filter { $0.hasSuffix(".json") }.map { file in
            let bytes = try! Data(contentsOf: folder.appending(path: file))
            return (file, try! JSON(parsing: bytes, limit: 64 << 20))
        }
    }()

    private static func entries(_ array: String) -> [Entry] {
        documents.flatMap { file, json in
            (json[array]?.array ?? []).enumerated().map { index, entry in
                let name = ["id", "why", "pin", "number", "hash"].lazy.compactMap { entry[$0]?.string }.first
                return Entry(file: file, name: name ?? "\(array) \(index)", json: entry)
            }
        }
    }
}
