import Dispatch
import Glibc
import Groundwork

/// Asks gpsd where the board is. It connects to ask, and holds no connection otherwise.
public struct GPSDClient: Sendable {
    /// The most bytes that are read for one fix: some minutes of all reports of a receiver.
    private static let readLimit = 1 << 20

    private let address: GPSDAddress

    public init(_ address: GPSDAddress) { self.address = address }

    /// The first fix that gpsd reports.
    ///
    /// - Parameter limit: how long to wait for it.
    /// - Throws: ``BoardError/gpsdFailed(address:reason:)``, ``BoardError/noFix(address:)``, `CancellationError`
    public func fix(within limit: Duration) async throws -> GPSFix {
        try await withThrowingTaskGroup(of: GPSFix.self) { group in
            group.addTask { try await ask() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw BoardError.noFix(address: address.description)
            }
            defer { group.cancelAll() }
            guard let fix = try await group.next() else { throw CancellationError() }
            return fix
        }
    }

    private func ask() async throws -> GPSFix {
        let (descriptor, error) = address.connect()
        guard descriptor >= 0 else { throw failure(error) }
        defer { close(descriptor) }
        guard error == 0 || error == EINPROGRESS else { throw failure(error) }
        if error == EINPROGRESS { try await wait(for: descriptor, toWrite: true) }
        let request = GPSDReader.request
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw failure(errno)
        }
        var reader = GPSDReader()
        var count = 0
        var buffer = [UInt8](repeating: 0, count: 4096)
        while count < Self.readLimit {
            try await wait(for: descriptor, toWrite: false)
            let got = recv(descriptor, &buffer, buffer.count, 0)
            if got < 0, errno == EAGAIN || errno == EINTR { continue }
            guard got > 0 else { throw got < 0 ? failure(errno) : failed("it ended the connection") }
            count += got
            switch reader.receive(buffer.prefix(got)) {
            case .nothing: continue
            case .fix(let fix): return fix
            case .refused(let reason): throw failed(reason)
            }
        }
        throw BoardError.noFix(address: address.description)
    }

    /// - Throws: `CancellationError`
    private func wait(for descriptor: Int32, toWrite: Bool) async throws {
        await firstEvent(of: {
            toWrite
                ? DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: .global())
                : DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
        })
        try Task.checkCancellation()
    }

    private func failure(_ error: Int32) -> BoardError { failed(Errno(error).description) }

    private func failed(_ reason: String) -> BoardError {
        .gpsdFailed(address: address.description, reason: reason)
    }
}
