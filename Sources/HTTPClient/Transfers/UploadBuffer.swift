import Glibc

/// The bytes of a request body at a fixed address while libcurl sends them; wiped afterwards, because bodies contain
/// client secrets and tokens.
final class UploadBuffer {
    private let bytes: UnsafeMutableRawBufferPointer

    init(_ body: [UInt8]) {
        bytes = .allocate(byteCount: body.count, alignment: 1)
        bytes.copyBytes(from: body)
    }

    deinit {
        if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
        bytes.deallocate()
    }

    var start: UnsafeMutableRawPointer? { bytes.baseAddress }
    var count: Int { bytes.count }
}
