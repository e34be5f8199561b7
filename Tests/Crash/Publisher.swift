import Foundation
import Glibc
import Synchronization
import TestSupport

/// Programs on the board that publish numbered readings over the local API, as many at a time as there are topics.
///
/// Each topic has one program, which sends a reading again until it is told that it was accepted: so the numbers of a
/// topic are accepted in order, and one whose acceptance was not heard of may be there twice.
final class Publisher: Sendable {
    struct Tally: Sendable {
        /// Readings told to be accepted; all numbers below are.
        var accepted: Int
        /// Requests whose answer was lost: the reading may have been accepted.
        var unknown = 0
        /// Answers that were refusals, by their code.
        var refusals: [String: Int] = [:]
        var isStopped = false
        fileprivate var allowed = 0
        fileprivate var taken = 0
        fileprivate var next: [Int]
        fileprivate var working: Int
    }

    let topics: Int
    private let socketPath: String
    private let prefix: String
    private let state: Mutex<Tally>

    /// - Parameters:
    ///   - prefix: the topics are `PREFIX/0`, `PREFIX/1` and so on: whole ones.
    init(socket: String, prefix: String, topics: Int) {
        (socketPath, self.prefix, self.topics) = (socket, prefix, topics)
        state = Mutex(Tally(accepted: 0, next: Array(repeating: 0, count: topics), working: topics))
        for topic in 0..<topics { Thread.detachNewThread { self.work(topic) } }
    }

    var tally: Tally { state.withLock { $0 } }
    /// How many of each topic were accepted.
    var acceptedByTopic: [Int] { state.withLock { $0.next } }

    /// Lets so many readings be sent, all in all.
    func allow(_ total: Int) { state.withLock { $0.allowed = max($0.allowed, total) } }
    func stop() { state.withLock { $0.isStopped = true } }

    /// Waits until so many are accepted, or the seconds are over.
    /// - Returns: whether they are.
    func accepted(_ count: Int, within seconds: Double) async -> Bool {
        let end = ContinuousClock.now + .seconds(seconds)
        while tally.accepted < count {
            guard ContinuousClock.now < end else { return false }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return true
    }

    /// Waits until so many are accepted, for as long as there are more and more: the limit is for a standstill.
    /// - Returns: whether they are.
    func accepted(_ count: Int, standstill seconds: Double) async -> Bool {
        while case let before = tally.accepted, before < count {
            guard await accepted(before + 1, within: seconds) else { return false }
        }
        return true
    }

    /// Waits until no program works any more.
    func ended() async {
        while state.withLock({ $0.working }) > 0, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
    }

    // MARK: One program

    private func work(_ topic: Int) {
        var connection: Int32 = -1
        defer {
            if connection >= 0 { close(connection) }
            state.withLock { $0.working -= 1 }
        }
        while let number = take(topic) {
            while !tally.isStopped {
                if connection < 0 { connection = connect() }
                let answer =
                    connection < 0 ? nil : post("\(prefix)/\(topic)", "reading \(topic) \(number)", over: connection)
                if let answer, answer.hasPrefix("HTTP/1.1 202") {
                    state.withLock {
                        $0.accepted += 1
                        $0.next[topic] = number + 1
                    }
                    break
                }
                if connection >= 0 { close(connection) }
                if let answer {
                    state.withLock { $0.refusals[Self.code(in: answer), default: 0] += 1 }
                } else if connection >= 0 {
                    state.withLock { $0.unknown += 1 }
                }
                connection = -1
                // The daemon is away: nothing tells when its socket is there again.
                usleep(3000)
            }
        }
    }

    /// The next number of a topic, once it may be sent; `nil` at the end.
    private func take(_ topic: Int) -> Int? {
        while true {
            let (number, isStopped) = state.withLock { state -> (Int?, Bool) in
                guard !state.isStopped, state.taken < state.allowed else { return (nil, state.isStopped) }
                state.taken += 1
                return (state.next[topic], false)
            }
            if isStopped { return nil }
            if let number { return number }
            // A thread of its own asks again: what it waits for is told by two variables, and comes soon.
            usleep(1000)
        }
    }

    private static func code(in answer: String) -> String {
        guard let start = answer.range(of: "\"code\":\"")?.upperBound else { return String(answer.prefix(40)) }
        return String(answer[start...].prefix { $0 != "\"" })
    }

    // MARK: HTTP by hand, as a reused connection is not to repeat a request by itself

    private func connect() -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socketPath.utf8) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            return -1
        }
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        return descriptor
    }

    /// - Returns: the whole answer; `nil` when the connection ended before it.
    private func post(_ topic: String, _ payload: String, over connection: Int32) -> String? {
        let body = #"{"topic":"\#(topic)","payload":"\#(payload)","raw":true}"#
        let request = Array(
            """
            POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
            Content-Length: \(body.utf8.count)\r\n\r\n\(body)
            """.utf8)
        guard send(connection, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return nil }
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(connection, &piece, piece.count, 0)
            guard count > 0 else { return nil }
            answer += piece[..<count]
            let text = String(decoding: answer, as: UTF8.self)
            guard let head = text.range(of: "\r\n\r\n"),
                let field = text.range(of: "content-length: ", options: .caseInsensitive),
                let length = Int(text[field.upperBound...].prefix { $0.isNumber })
            else { continue }
            if text[head.upperBound...].utf8.count >= length { return text }
        }
    }
}

/// What a reader at the broker received, held against what was accepted.
struct Arrivals {
    var delivered = 0
    var duplicates = 0
    /// First deliveries that came after a later number of their topic.
    var reordered = 0
    /// Accepted, and never delivered.
    var lost = 0

    /// - Parameters:
    ///   - lines: of the reader, among them `reading TOPIC NUMBER`.
    ///   - accepted: how many of each topic were accepted: all numbers below.
    init(_ lines: [String], accepted: [Int]) {
        var seen: [Set<Int>] = accepted.map { _ in [] }
        var newest = accepted.map { _ in -1 }
        for line in lines where line.hasPrefix("reading ") {
            let parts = line.split(separator: " ").dropFirst().compactMap { Int($0) }
            guard parts.count == 2, accepted.indices.contains(parts[0]) else { continue }
            let (topic, number) = (parts[0], parts[1])
            guard seen[topic].insert(number).inserted else {
                duplicates += 1
                continue
            }
            delivered += 1
            if number < newest[topic] { reordered += 1 }
            newest[topic] = max(newest[topic], number)
        }
        for (topic, count) in accepted.enumerated() { lost += (0..<count).count { !seen[topic].contains($0) } }
    }
}
