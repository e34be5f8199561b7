import Foundation
import Glibc

@testable import Messaging
@testable import Storage

/// A folder for an outbox whose segments are not continued from 4 KiB on.
struct OutboxPlace {
    let bench: Bench
    var policy = OutboxPolicy(limitBytes: 256 << 10, maxAge: .seconds(1 << 32), telemetryReserve: 0)

    init() throws {
        bench = try Bench()
        (policy.spill, policy.flush) = (.zero, .zero)
    }

    var path: String { bench.path("outbox.db") }

    func open(_ owner: String? = "device-1", isSuspect: Bool = false) async throws -> Outbox {
        try await Outbox.open(at: path, owner: owner, policy: policy, isSuspect: isSuspect)
    }

    /// Its store alone.
    func file() throws -> OutboxFile { try OutboxFile.open(at: path, policy: policy).store }

    static func message(_ number: Int, bytes: Int = 100, _ kind: OutgoingMessage.Kind = .explicit) throws
        -> OutgoingMessage
    {
        OutgoingMessage(
            topic: try Topic("t"), payload: Array("\(number) ".utf8) + [UInt8](repeating: 0x78, count: bytes),
            kind: kind)
    }

    /// The numbers that the waiting messages begin with.
    static func waiting(in outbox: Outbox) async throws -> [Int] {
        try await outbox.rewind(arrival: nil)
        var numbers: [Int] = []
        while true {
            let page = try await outbox.next(limit: 100, bytes: 1 << 20)
            numbers += page.messages.compactMap {
                Int(String(decoding: $0.message.payload, as: UTF8.self).prefix { $0 != " " })
            }
            if page.isLast { return numbers }
        }
    }

    /// What a kill would leave now.
    func copy() throws -> OutboxPlace {
        var copy = try OutboxPlace()
        copy.policy = policy
        for name in try bench.outboxFiles() {
            try FileManager.default.copyItem(atPath: bench.path(name), toPath: copy.bench.path(name))
        }
        return copy
    }

    /// Removes the database, and not the segments.
    func loseDatabase() { for ending in ["", "-wal", "-shm"] { unlink(path + ending) } }

    func segments() throws -> [String] { try bench.segments().map { bench.path($0) } }

    /// The files that were set aside.
    func damaged() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: bench.directory.path).filter { $0.contains(".damaged-") }
    }

    /// Writes over what a file has.
    static func overwrite(_ path: String, _ bytes: [UInt8], at offset: Int) throws {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }
}

extension Data {
    /// A segment without the zeros behind its last transaction.
    var withoutRoom: Data { prefix((lastIndex { $0 != 0 } ?? -1) + 1) }
}

extension OutboxFile {
    /// Appends these, each in a transaction of its own.
    func accept(_ numbers: some Sequence<Int>, bytes: Int = 100) throws {
        for number in numbers { try acceptTogether([number], bytes: bytes) }
    }

    func acceptTogether(_ numbers: some Sequence<Int>, bytes: Int = 100) throws {
        try transaction {
            for number in numbers {
                let message = try OutboxPlace.message(number, bytes: bytes)
                try append(
                    QueuedMessage(id: Int64(number), message: message, acceptedAt: Date()), acceptedBytes: 0)
            }
        }
    }

    func remove(each numbers: some Sequence<Int>) throws {
        try transaction { for number in numbers { remove(Int64(number)...Int64(number)) } }
    }
}

/// The open files of a thread that shares them with no other: it can run out of descriptors alone.
struct DescriptorTable {
    private var taken: [CInt] = []

    /// Leaves so many that can be opened.
    mutating func leave(_ count: Int) {
        while case let copy = dup(2), copy >= 0 { taken.append(copy) }
        for _ in 0..<count { close(taken.removeLast()) }
    }

    mutating func free() {
        for descriptor in taken { close(descriptor) }
        taken = []
    }

    /// Runs `body` on such a thread.
    static func withOwn<Result: Sendable>(
        _ body: @escaping @Sendable (inout DescriptorTable) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Swift.Result {
                        // Named by the header for GNU programs only.
                        typealias Unshare = @convention(c) (CInt) -> CInt
                        let unshare = unsafeBitCast(dlsym(nil, "unshare"), to: Unshare.self)
                        let onlyFiles: CInt = 0x400
                        guard unshare(onlyFiles) == 0 else {
                            throw StorageError.cannotOpen(path: "", reason: "unshare")
                        }
                        // What other threads have open stays open for them.
                        for descriptor in 3..<CInt(clamping: sysconf(CInt(_SC_OPEN_MAX))) { close(descriptor) }
                        var table = DescriptorTable()
                        return try body(&table)
                    })
            }
        }
    }
}
