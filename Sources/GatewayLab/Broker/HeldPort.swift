import Glibc
import NIOCore

/// A TCP port that stays the lab's own, also while no server listens on it, such as between the end of a broker and its
/// next start. Here it is only bound: the system gives it to no program that asks for any port, and a server that asks
/// for it by its number, with `SO_REUSEADDR`, gets it.
final class HeldPort: Sendable {
    let number: Int
    private let descriptor: Int32

    /// - Parameter address: on which a server is to listen later.
    /// - Throws: `LabError.cannotListen`
    init(on address: String) throws {
        let place: SocketAddress
        do {
            place = try .makeAddressResolvingHost(address, port: 0)
        } catch {
            throw LabError.cannotListen(address: address, port: 0, error)
        }
        let family = place.protocol == .inet6 ? AF_INET6 : AF_INET
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var one: Int32 = 1
        var bound = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let isBound =
            setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size)) == 0
            && place.withSockAddr { bind(descriptor, $0, socklen_t($1)) } == 0
            && withUnsafeMutablePointer(to: &bound) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
            } == 0
        guard isBound else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw LabError.cannotListen(address: address, port: 0, reason: reason)
        }
        // At the same place in both kinds of addresses.
        number = Int(UInt16(bigEndian: withUnsafeBytes(of: bound) { $0.load(fromByteOffset: 2, as: UInt16.self) }))
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }
}
