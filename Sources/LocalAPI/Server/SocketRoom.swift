// Apart from libmicrohttpd's header, with which the compiler loses Glibc's names in other files of a release build.
import Glibc

/// Writes as many of the bytes as the socket has room for, without waiting.
///
/// - Returns: how many; 0 also if the peer is gone.
func writeAtOnce(_ bytes: [UInt8], to descriptor: CInt) -> Int {
    max(0, send(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)))
}
