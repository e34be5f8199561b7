import Groundwork
import LocalAPI

/// Follows an event stream of the daemon, also across restarts of the daemon.
///
/// A stream that ends because the daemon does is opened again, with a note on standard error: it lacks the events in
/// between.
final class Following {
    private let client: LocalClient
    private let path: String
    private let form: StreamForm
    private let isAlone: Bool
    /// Whether the daemon has answered already: a daemon that does not run at all is an error.
    private var isKnown: Bool
    private var hasReportedEnd = false
    private var backoff: Backoff
    private var records: LocalRecords?
    /// The error after the records that were returned last.
    private var failure: LocalAPIError?

    /// - Parameter isAlone: whether the program does nothing else, so that its thread may wait for the stream.
    init(
        client: LocalClient, path: String, isKnown: Bool = false, as form: StreamForm = .lines, isAlone: Bool = false,
        backoff: Backoff = Backoff(initial: .milliseconds(500), cap: .seconds(15))
    ) {
        self.client = client
        self.path = path
        self.form = form
        self.isAlone = isAlone
        self.isKnown = isKnown
        self.backoff = backoff
    }

    /// Opens the stream, so that it holds what happens from then on. Where there is no daemon now, ``next()`` opens it.
    ///
    /// - Throws: `LocalAPIError` for anything but an end of the daemon.
    func open() async throws {
        let stream = opened()
        do throws(LocalAPIError) {
            try await stream.open()
        } catch {
            guard error.isEndOfDaemon else { throw error }
            records = nil
        }
    }

    private func opened() -> LocalRecords {
        let stream = records ?? (isAlone ? client.ownRecords(path, as: form) : client.records(path, as: form))
        records = stream
        return stream
    }

    /// - Parameter take: called with each event; returns `false` to end the stream.
    /// - Throws: `LocalAPIError` for anything but an end of the daemon, and what `take` throws.
    func run(_ take: (LocalEvent) async throws -> Bool) async throws {
        while let batch = try await next() {
            for record in batch { guard try await take(try record.event()) else { return } }
        }
    }

    /// The next records, as they came together.
    ///
    /// - Returns: `nil` in a canceled task.
    /// - Throws: `LocalAPIError` for anything but an end of the daemon.
    func next() async throws -> [LocalRecord]? {
        while !Task.isCancelled {
            var reason = "the daemon ended the stream"
            do {
                if let failure { throw failure }
                if let batch = try await opened().next() { return parsed(batch) }
            } catch let error as LocalAPIError where isKnown && error.isEndOfDaemon {
                reason = error.message
            }
            (records, failure) = (nil, nil)
            if !hasReportedEnd { Terminal.error("latchkey: \(reason); waiting for the daemon to come back") }
            hasReportedEnd = true
            try await Task.sleep(for: backoff.next())
        }
        return nil
    }

    /// The records up to the first that is malformed, or up to the error with which the daemon breaks off.
    private func parsed(_ batch: [ArraySlice<UInt8>]) -> [LocalRecord] {
        var parsed: [LocalRecord] = []
        parsed.reserveCapacity(batch.count)
        do throws(LocalAPIError) {
            for bytes in batch where !bytes.isEmpty { parsed.append(try LocalRecord(bytes, in: form)) }
        } catch {
            failure = error
        }
        if !parsed.isEmpty {
            (isKnown, hasReportedEnd) = (true, false)
            backoff.reset()
        }
        return parsed
    }
}

extension LocalAPIError {
    /// Whether the daemon has stopped, is stopping or just starting: it takes a moment to load its registration and to
    /// open its store.
    var isEndOfDaemon: Bool {
        switch self {
        case .daemonNotRunning, .noAnswer, .daemonEnded: true
        case .remote(_, let explanation):
            [.unconfigured, .notAdmitted, .unavailable].contains(explanation.kind)
                || explanation.code == LocalAPIError.stopping.code
        // Any other error would only come again with the next request.
        default: false
        }
    }
}
