import Foundation
import Synchronization

/// What a process has written so far.
package final class Collected: Sendable {
    private struct State {
        var data = Data()
        var ended = false
        var watchers: [AsyncStream<Void>.Continuation] = []
    }
    private let state = Mutex(State())

    package init() {}

    package var data: Data { state.withLock { $0.data } }
    package var text: String { String(decoding: data, as: UTF8.self) }
    package var lines: [String] { text.split(separator: "\n").map(String.init) }
    package var count: Int { state.withLock { $0.data.count } }

    /// The lines with this beginning; the others, of which there may be millions, are not made strings.
    package func lines(beginning: String) -> [String] {
        let mark = Array(beginning.utf8)
        return data.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: mark) }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// The whole lines after so many bytes, and where the next one begins. What has no newline at its end is a line
    /// only once the output has ended.
    private func lines(after start: Int) -> (lines: [String], next: Int) {
        let (fresh, hasEnded) = state.withLock { ($0.data[start...], $0.ended) }
        let end =
            hasEnded ? fresh.endIndex : fresh.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? start
        return (fresh[..<end].split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }, end)
    }

    package func append(_ data: Data) {
        state.withLock { state in
            state.data += data
            for watcher in state.watchers { watcher.yield() }
        }
    }

    package func finish() {
        let watchers = state.withLock { state in
            state.ended = true
            defer { state.watchers = [] }
            return state.watchers
        }
        for watcher in watchers { watcher.finish() }
    }

    /// A value now, one for each piece of output that comes, and the end with the output's.
    private func changes() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield()
        let hasEnded = state.withLock { state in
            if !state.ended { state.watchers.append(continuation) }
            return state.ended
        }
        if hasEnded { continuation.finish() }
        return stream
    }

    package func finished() async { for await _ in changes() {} }

    /// The first line that holds `part`, once all of it is there.
    ///
    /// - Parameter position: of the first byte that counts, such as an earlier ``count``.
    package func line(containing part: String, after position: Int = 0, within seconds: Double = 180) async throws
        -> String
    {
        try await Acceptance.within(seconds, "a line with \(part)") { [self] in
            var start = position
            func next() -> String? {
                let (fresh, end) = lines(after: start)
                start = end
                return fresh.first { $0.contains(part) }
            }
            for await _ in changes() {
                if let line = next() { return line }
            }
            if let line = next() { return line }
            throw Unexpected("no line with \(part) in: …\(text.suffix(8000))")
        }
    }

    /// Waits for `part`, also in half a line, as a question is until it is answered.
    ///
    /// - Parameter times: how often it has come by then.
    package func wait(for part: String, times: Int = 1, within seconds: Double = 180) async throws {
        try await Acceptance.within(seconds, part) { [self] in
            func isThere() -> Bool { text.components(separatedBy: part).count > times }
            for await _ in changes() where isThere() { return }
            guard isThere() else { throw Unexpected("no \(part) in: …\(text.suffix(8000))") }
        }
    }

    /// The first lines that are wanted, once there are so many.
    @discardableResult
    package func lines(
        _ count: Int, within seconds: Double = 180, where isWanted: @escaping @Sendable (String) -> Bool
    ) async throws -> [String] {
        try await Acceptance.within(seconds, "\(count) lines that are wanted") { [self] in
            func wanted() -> [String]? {
                let found = Array(lines(after: 0).lines.lazy.filter(isWanted).prefix(count))
                return found.count == count ? found : nil
            }
            for await _ in changes() {
                if let found = wanted() { return found }
            }
            if let found = wanted() { return found }
            throw Unexpected("fewer than \(count) wanted lines in: …\(text.suffix(8000))")
        }
    }

    /// The first line that holds `part`, for as long as anything comes: the limit is for a silence, however much there
    /// is.
    package func line(containing part: String, silence seconds: Double) async throws -> String {
        while true {
            let before = count
            do {
                return try await line(containing: part, within: seconds)
            } catch {
                guard count > before else { throw error }
            }
        }
    }
}
