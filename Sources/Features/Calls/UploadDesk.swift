import AgentCore
import Groundwork
import HTTPClient
import Synchronization

/// The bodies of calls that local programs are sending, by an identifier that only the program of the call knows.
package final class UploadDesk: Sendable {
    private struct Upload {
        let call: String
        let uid: UInt32
        let feed: BodyFeed
    }
    private let uploads = Mutex<[String: Upload]>([:])

    package func newID() -> String { Hex.encode((0..<16).map { _ in UInt8.random(in: 0...255) }) }

    /// - Parameter call: identifies the call, whose attempts have a body each.
    /// - Returns: under which the body is sent.
    package func open(_ feed: BodyFeed, of call: String, for uid: UInt32) -> String {
        let id = newID()
        uploads.withLock { $0[id] = Upload(call: call, uid: uid, feed: feed) }
        return id
    }

    /// Forgets every body of a call, and ends it: a program that sends one must not wait for a transfer that never
    /// began.
    package func close(_ call: String) {
        let over = uploads.withLock { uploads in
            let over = uploads.values.filter { $0.call == call }
            uploads = uploads.filter { $0.value.call != call }
            return over
        }
        for upload in over { upload.feed.end() }
    }

    /// - Returns: `nil` for a call that is over, and for another user's.
    package func feed(_ id: String, of uid: UInt32) -> BodyFeed? {
        uploads.withLock { $0[id] }.flatMap { $0.uid == uid ? $0.feed : nil }
    }
}
