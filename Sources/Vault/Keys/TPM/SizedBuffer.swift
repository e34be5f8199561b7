import CTSS2
import Cryptography
import Glibc

/// A buffer of the TPM2 Software Stack for bytes: a count, then room for the most (`TPM2B` in TPM 2.0 part 2 section
/// 10.4).
protocol SizedBuffer {
    init()
    var size: UInt16 { get set }
}

extension TPM2B_DIGEST: SizedBuffer {}
extension TPM2B_DATA: SizedBuffer {}
extension TPM2B_NAME: SizedBuffer {}
extension TPM2B_PRIVATE: SizedBuffer {}
extension TPM2B_SENSITIVE_DATA: SizedBuffer {}
extension TPM2B_PUBLIC_KEY_RSA: SizedBuffer {}
extension TPM2B_MAX_NV_BUFFER: SizedBuffer {}

extension SizedBuffer {
    /// `nil` for more bytes than it has room for.
    init?(_ bytes: some Collection<UInt8>) {
        self.init()
        let start = MemoryLayout<UInt16>.size
        guard bytes.count <= MemoryLayout<Self>.size - start else { return nil }
        withUnsafeMutableBytes(of: &self) {
            UnsafeMutableRawBufferPointer(rebasing: $0[start...]).copyBytes(from: bytes)
        }
        size = UInt16(bytes.count)
    }

    /// `nil` for more bytes than it has room for.
    init?(_ secret: SecretBytes) {
        guard let filled = secret.withUnsafeBytes({ Self($0) }) else { return nil }
        self = filled
    }

    /// Calls `body` with the bytes, as many as there can be at most.
    mutating func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let (start, count) = (MemoryLayout<UInt16>.size, Int(size))
        return withUnsafeBytes(of: &self) { memory in
            body(UnsafeRawBufferPointer(rebasing: memory[start...].prefix(count)))
        }
    }

    /// Overwrites the bytes.
    mutating func wipeBytes() {
        let (start, count) = (MemoryLayout<UInt16>.size, Int(size))
        withUnsafeMutableBytes(of: &self) { memory in
            let bytes = memory[start...].prefix(count)
            explicit_bzero(memory.baseAddress! + start, bytes.count)
        }
    }
}

/// Overwrites all that a structure of C has held.
func wipe<Structure>(structure: inout Structure) {
    withUnsafeMutableBytes(of: &structure) { explicit_bzero($0.baseAddress!, $0.count) }
}
