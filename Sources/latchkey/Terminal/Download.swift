import Glibc

/// A file that an answer is written to: until it is complete under another name, `FILE.part`.
///
/// What is there and is not a regular file, such as a FIFO, is written to as it comes.
struct Download {
    private let place: OutputPlace
    private var isDirect: Bool { place.isNode }
    private var partPath: String { place.path + ".part" }
    private var descriptor: Int32 = -1

    /// - Throws: ``InputError/unwritable(name:reason:)``
    init(to path: String) throws(InputError) { place = try OutputPlace(of: path) }

    /// - Throws: ``InputError/unwritable(name:reason:)``
    mutating func begin(_ status: Int64) throws(InputError) {
        guard (200..<300).contains(status) else { return }
        descriptor = try isDirect ? place.openNode() : place.makeDraft(partPath)
        guard isOpen else { throw place.unwritable }
    }

    /// Whether the answer goes to the file: a refusal does not.
    var isOpen: Bool { descriptor >= 0 }

    func write(_ piece: [UInt8]) throws(InputError) {
        var rest = piece[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw place.unwritable }
            rest = rest.dropFirst(count)
        }
    }

    /// Gives the complete file its name.
    ///
    /// - Throws: ``InputError/unwritable(name:reason:)``
    mutating func finish() throws(InputError) {
        defer { descriptor = -1 }
        guard !isDirect else {
            guard close(descriptor) == 0 else { throw place.unwritable }
            return
        }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw place.unwritable }
        try place.take(partPath, descriptor)
    }

    /// Removes what was written of an answer that broke off.
    mutating func abandon() {
        guard isOpen else { return }
        close(descriptor)
        descriptor = -1
        if !isDirect { unlink(partPath) }
    }
}
