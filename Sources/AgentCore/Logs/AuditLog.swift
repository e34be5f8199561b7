import Groundwork

/// A log of who was let in, when, how and by whose consent, and who was refused: a line of JSON each, kept across
/// restarts.
///
/// Runs on ``NamedThread/storage``, because every line is on disk before the next is accepted. Grants and refusals have
/// separate files. A file beyond its limit is renamed, replacing the one renamed before. So a device that is refused
/// over and over, which needs no consent, does not push out the record of who was let in.
package final actor AuditLog {
    package nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

    /// Grants, whatever their outcome.
    private let granted: RotatingFile
    private let refused: RotatingFile

    /// - Parameters:
    ///   - name: what the files' names begin with.
    ///   - limit: of each file, in bytes; the default is some thousand lines.
    package init(directory: String, name: String = "proximity", limit: Int = 1 << 20) {
        granted = RotatingFile("\(directory)/\(name)-audit.jsonl", limit: limit)
        refused = RotatingFile("\(directory)/\(name)-refusals.jsonl", limit: limit)
    }

    /// - Throws: ``AgentError/stateDirectory(path:reason:)``
    package func append(_ record: JSON, isRefusal: Bool) throws(AgentError) {
        let file = isRefusal ? refused : granted
        do throws(FileFault) {
            try file.append(record.bytes)
        } catch {
            throw .stateDirectory(path: file.path, reason: error.description)
        }
    }

    /// The newest records of both kinds, the newest last, without lines left incomplete by a power cut.
    package func newest(_ count: Int) -> [JSON] {
        // Each file is in order; records of both are ordered by their times, and within a second by their numbers.
        var sources = [granted, refused].map { newest(count, in: $0)[...] }
        var merged: [JSON] = []
        while merged.count < count {
            let heads = sources.indices.filter { !sources[$0].isEmpty }
            guard let next = heads.max(by: { Self.goesBefore(sources[$0].last, sources[$1].last) }) else { break }
            merged.append(sources[next].removeLast())
        }
        return merged.reversed()
    }

    private func newest(_ count: Int, in file: RotatingFile) -> [JSON] {
        var newest: [JSON] = []
        var concluded: Set<String> = []
        for line in file.newestLines {
            guard newest.count < count else { break }
            guard let record = try? JSON(parsing: line) else { continue }
            // What was recorded before its outcome was known is left out once that is.
            let question = "\(record["time"]?.string ?? "") \(record["id"]?.integer ?? 0)"
            guard record["outcome"] != "unknown" || !concluded.contains(question) else { continue }
            concluded.insert(question)
            newest.append(record)
        }
        return newest.reversed()
    }

    private static func goesBefore(_ one: JSON?, _ other: JSON?) -> Bool {
        let (first, second) = (one?["time"]?.string ?? "", other?["time"]?.string ?? "")
        return (first, one?["id"]?.integer ?? 0) < (second, other?["id"]?.integer ?? 0)
    }
}
