import Glibc

/// The lines of a descriptor, read in batches of all that have arrived.
struct InputLines {
    /// The most lines, and about the most bytes, of one batch: what the daemon takes in one request.
    static let batchLines = 2000
    static let batchBytes = 256 << 10

    private let descriptor: Int32
    private let lineLimit: Int
    private var bytes: [UInt8] = []
    /// Everything before this has been returned.
    private var start = 0
    /// The next byte to search for a line end.
    private var searched = 0
    private var hasEnded = false
    private let interruption: Interruption?

    /// - Parameter interruption: ends the input, and drops what has not been returned.
    init(_ descriptor: Int32, lineLimit: Int, endedBy interruption: Interruption? = nil) {
        self.descriptor = descriptor
        self.lineLimit = lineLimit
        self.interruption = interruption
    }

    /// Waits for a line, and takes all that have arrived with it.
    ///
    /// - Returns: whole lines with their line ends, which only the very last may lack; `nil` at the end.
    /// - Throws: ``InputError``
    mutating func next() throws(InputError) -> [UInt8]? {
        while interruption?.hasCome != true {
            if let end = endOfBatch() {
                defer { start = end }
                return Array(bytes[start..<end])
            }
            guard !hasEnded else { return nil }
            guard bytes.count - start <= lineLimit else {
                throw .tooLong(name: "a line of standard input", limit: lineLimit)
            }
            interruption?.wait(for: descriptor)
            guard interruption?.hasCome != true else { break }
            try read()
        }
        return nil
    }

    /// - Returns: the end of the batch that can be returned now.
    private mutating func endOfBatch() -> Int? {
        var end = start
        var lines = 0
        searched = max(searched, start)
        while lines < Self.batchLines, let next = bytes[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            searched = next + 1
            // The daemon takes a megabyte: a long line after others waits for the next batch.
            guard end == start || searched - start <= Self.batchBytes else {
                searched = end
                return end
            }
            end = searched
            lines += 1
        }
        if end > start { return end }
        searched = bytes.count
        return hasEnded && start < bytes.count ? bytes.count : nil
    }

    private mutating func read() throws(InputError) {
        bytes.removeFirst(start)
        searched -= start
        start = 0
        let size = Self.batchBytes
        let held = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: size))
        let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + held, size) }
        let code = errno
        bytes.removeLast(size - max(count, 0))
        if count == 0 { hasEnded = true }
        guard count >= 0 || code == EINTR else {
            throw .unreadable(name: "standard input", reason: String(cString: strerror(code)))
        }
    }
}
