import Foundation
import Groundwork
import Testing

@testable import MPin

/// The known computations of every file in `Vectors` (MPIN 11). A file may have only some of the arrays, an element
/// only some of the members, and either has others that nothing is known of: what is there is compared.
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

        /// Compares what was computed with what is expected of it, if anything is.
        func expect(_ path: String..., equals bytes: [UInt8], _ location: SourceLocation = #_sourceLocation) {
            guard let expected = path.reduce(json, { $0?[$1] })?.string else { return }
            let name = path.joined(separator: ".")
            #expect(Hex.encode(bytes) == expected.lowercased(), "\(name) of \(self)", sourceLocation: location)
        }
    }

    /// One file; its path is relative to the folder.
    struct File: Sendable, CustomStringConvertible {
        let path: String
        /// `nil` if it cannot be read.
        let json: JSON?
        var description: String { path }

        /// Why its points cannot be compared with those of this program; `nil` if they can.
        var otherness: String? {
            for (member, own) in [("curve", "BN254CX"), ("hash", "SHA-256")] {
                guard let text = json?[member]?.string, Self.plain(text) != Self.plain(own) else { continue }
                return "its \(member) is \(text), not \(own)"
            }
            return nil
        }

        /// `sha256` and `SHA-256` are the same.
        private static func plain(_ text: String) -> String { text.lowercased().filter { $0.isLetter || $0.isNumber } }
    }

    static let authentications = entries("vectors", ofThisCurve: true)
    static let pinMapping = entries("pin_mapping")
    static let accessNumbers = entries("access_numbers")
    static let invalidPoints = entries("invalid_points", ofThisCurve: true)
    static let hashesToPoints = entries("hash_to_point", ofThisCurve: true)
    static let arrays = ["vectors", "pin_mapping", "access_numbers", "invalid_points", "hash_to_point"]

    static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors")

    static let files: [File] = {
        // What cannot be read must not shorten the tests: it is reported as a file.
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()) ?? []
        return paths.filter { $0.lowercased().hasSuffix(".json") }.map { path in
            let bytes = try? Data(contentsOf: folder.appending(path: path))
            return File(path: path, json: bytes.flatMap { try? JSON(parsing: $0, limit: 64 << 20) })
        }
    }()

    /// What some vector expects below this name.
    static func first(_ name: String) -> [UInt8]? { authentications.lazy.compactMap { $0.bytes("expect", name) }.first }

    private static func entries(_ array: String, ofThisCurve: Bool = false) -> [Entry] {
        files.filter { !ofThisCurve || $0.otherness == nil }.flatMap { entries(array, of: $0) }
    }

    static func entries(_ array: String, of file: File) -> [Entry] {
        (file.json?[array]?.array ?? []).enumerated().map { index, entry in
            let name = ["id", "why", "pin", "number", "hash"].lazy.compactMap { entry[$0]?.string }.first
            return Entry(file: file.path, name: name ?? "\(array) \(index)", json: entry)
        }
    }
}
