import Foundation
import TestSupport

/// A network of its own for a board, whose only link is a cable to the namespace where the servers are.
final class Cable: Sendable {
    /// The board's end.
    static let link = "uplink0"
    private static let address = "198.51.100.2"
    private static let router = "198.51.100.1"

    private let far: Namespace
    let name = "lk-\(UInt32.random(in: .min ... .max))"
    private let farEnd = "lk\(UInt32.random(in: .min ... .max))"

    init(to far: Namespace) async throws {
        self.far = far
        try await Self.ip("netns", "add", name)
        do {
            try await Self.ip(
                "link", "add", farEnd, "netns", far.name, "type", "veth", "peer", "name", Self.link, "netns", name)
            try await Self.ip("-n", far.name, "address", "add", "\(Self.router)/24", "dev", farEnd)
            try await Self.ip("-n", far.name, "link", "set", farEnd, "up")
            try await Self.ip("-n", name, "link", "set", "lo", "up")
            try await addAddress()
            try await plugIn()
        } catch {
            try await remove()
            throw error
        }
    }

    func remove() async throws { try await Self.ip("netns", "delete", name) }

    /// What has a program run inside.
    var launcher: [String] { ["/usr/sbin/ip", "netns", "exec", name] }

    /// Switches the board's end off; the kernel drops its routes.
    func switchOff() async throws { try await Self.ip("-n", name, "link", "set", Self.link, "down") }

    /// Switches it on, and adds the default route.
    func plugIn() async throws {
        try await Self.ip("-n", name, "link", "set", Self.link, "up")
        try await addRoute()
    }

    func addRoute() async throws {
        try await Self.ip("-n", name, "route", "replace", "default", "via", Self.router, "dev", Self.link)
    }

    /// The other end is switched off or on: the board's loses its carrier, and keeps address and route.
    func setCarrier(_ isThere: Bool) async throws {
        try await Self.ip("-n", far.name, "link", "set", farEnd, isThere ? "up" : "down")
    }

    func addAddress() async throws {
        try await Self.ip("-n", name, "address", "add", "\(Self.address)/24", "dev", Self.link)
    }

    /// Takes every address away, of IPv6 too.
    func removeAddresses() async throws { try await Self.ip("-n", name, "address", "flush", "dev", Self.link) }

    private static func ip(_ arguments: String...) async throws {
        let result = try await Program(url: URL(filePath: "/usr/sbin/ip")).run(arguments)
        guard result.status == 0 else { throw Unexpected("ip \(arguments.joined(separator: " ")): \(result.errors)") }
    }
}
