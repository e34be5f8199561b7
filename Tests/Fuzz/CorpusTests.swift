import Foundation
import Testing

private let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")

/// Runs every seed of `deploy/fuzz` through its target, so that a parser that was once repaired stays so. The name of a
/// seed begins with what has to come of it: `accepted-`, `refused-`, or `any-` where only the promises count.
@Suite("Seeds of the fuzz targets")
struct CorpusTests {
    @Test(
        "seeds of the fuzz targets are read as their names say, and no guarantee is broken", .timeLimit(.minutes(5)),
        arguments: FuzzTarget.all.map(\.name))
    func seeds(of name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let seeds = try FileManager.default.contentsOfDirectory(atPath: corpus.appending(path: name).path).sorted()
        #expect(
            !seeds.filter { $0.hasPrefix("accepted-") }.isEmpty,
            "a fuzzer needs a valid seed to get past the first check")
        for seed in seeds {
            let bytes = try Data(contentsOf: corpus.appending(path: name).appending(path: seed))
            let verdict = try target.check(Array(bytes))
            switch seed.prefix(while: { $0 != "-" }) {
            case "accepted": #expect(verdict == .accepted, "\(name)/\(seed)")
            case "refused": #expect(verdict == .refused, "\(name)/\(seed)")
            default: #expect(seed.hasPrefix("any-"), "\(name)/\(seed) does not say what has to come of it")
            }
        }
    }

    @Test("seeds of the fuzz targets belong to targets that exist")
    func folders() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: corpus.path)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    }
}
