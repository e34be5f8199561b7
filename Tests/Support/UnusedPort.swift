import Foundation
import Synchronization

/// TCP ports for servers that are started later, or never. Nobody else gets them: they are below those that the system
/// gives out (`net.ipv4.ip_local_port_range`), and no other test asks for them.
package enum UnusedPort {
    private static let reserved = Mutex<Set<UInt16>>([])

    /// A port, the same of all addresses, that stays the caller's until this process ends, also while nobody listens.
    package static func reserve() throws -> Int {
        for port in (UInt16(10_000)..<30_000).shuffled() where hold(port) {
            if isFree(port) { return Int(port) }
        }
        throw POSIXError(.EADDRNOTAVAIL)
    }

    /// The first of two ports that follow each other, for a server that has to listen on both.
    package static func reservePair() throws -> Int {
        for port in (UInt16(10_000)..<29_999).shuffled() where hold(port) {
            if isFree(port), hold(port + 1), isFree(port + 1) { return Int(port) }
        }
        throw POSIXError(.EADDRNOTAVAIL)
    }

    /// Takes a name of the port among all processes, which the system gives back when this process ends.
    private static func hold(_ port: UInt16) -> Bool {
        guard reserved.withLock({ $0.insert(port).inserted }) else { return false }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A leading zero byte: a name that is no file (unix(7)).
        let name = [0] + Array("latchkey-test-port-\(port)".utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let size = MemoryLayout<sa_family_t>.size + name.count
        let holds = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(size)) == 0 }
        }
        if !holds { close(descriptor) }
        return holds
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        // Of both kinds of addresses.
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = in_port_t(port).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0
            }
        }
    }
}
