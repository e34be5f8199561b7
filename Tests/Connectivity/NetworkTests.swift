import Testing

@testable import Connectivity

@Suite("The network as the kernel reports it")
struct NetworkTests {
    private typealias Link = NetworkSnapshot.Link
    private typealias Address = NetworkSnapshot.Address

    private static let ethernet = Link(index: 2, name: "eth0", type: 1, isRunning: true)
    private static let wireless = Link(index: 3, name: "wlan0", type: 1, isRunning: true)
    private static let own = [Address(index: 2, bytes: [192, 0, 2, 5], isGlobal: true)]
    private static let both = own + [Address(index: 3, bytes: [198, 51, 100, 5], isGlobal: true)]

    @Test("the network leads out by the best default route of a link with carrier and address")
    func wayOut() {
        var snapshot = NetworkSnapshot(
            links: [Self.ethernet, Self.wireless], addresses: Self.both,
            routes: [
                .init(isIPv6: false, index: 3, priority: 600), .init(isIPv6: false, index: 2, priority: 100),
            ])
        #expect(snapshot.wayOut?.name == "eth0")
        // The kernel keeps the route of a link without a carrier.
        snapshot.links[0].isRunning = false
        #expect(snapshot.wayOut?.name == "wlan0")
        snapshot.links[0].isRunning = true
        snapshot.routes.removeLast()
        #expect(snapshot.wayOut?.name == "wlan0")
        snapshot.addresses.removeLast()
        #expect(snapshot.wayOut?.name == "eth0", "a server may be on the link itself")
        snapshot.addresses[0].isGlobal = false
        #expect(snapshot.wayOut == nil)
    }

    @Test("a network of IPv6 alone leads out too, and not by a route of IPv4 that has no address")
    func families() {
        let address = Address(index: 2, bytes: [UInt8](repeating: 1, count: 16), isGlobal: true)
        let snapshot = NetworkSnapshot(
            links: [Self.ethernet, Self.wireless], addresses: [address],
            routes: [.init(isIPv6: false, index: 2, priority: 0), .init(isIPv6: true, index: 2, priority: 1024)])
        #expect(snapshot.wayOut?.name == "eth0")
        #expect(NetworkSnapshot(links: [Self.ethernet], addresses: []).wayOut == nil)
    }

    @Test("the network carries connections only from addresses of links with a carrier")
    func carries() {
        var snapshot = NetworkSnapshot(links: [Self.ethernet], addresses: Self.own)
        #expect(snapshot.carries([192, 0, 2, 5]))
        #expect(!snapshot.carries([192, 0, 2, 6]))
        snapshot.links[0].isRunning = false
        #expect(!snapshot.carries([192, 0, 2, 5]))
    }

    @Test("an attempt is repeated when a usable link, an address or a default route comes, and not for others")
    func outlook() {
        var snapshot = NetworkSnapshot(links: [Self.ethernet], addresses: Self.own)
        let first = snapshot.outlook
        #expect(first != nil)
        snapshot.links.append(Self.wireless)
        #expect(snapshot.outlook == first)
        snapshot.routes = [.init(isIPv6: false, index: 2, priority: 100)]
        let routed = snapshot.outlook
        #expect(routed != first)
        snapshot.addresses.append(.init(index: 2, bytes: [192, 0, 2, 6], isGlobal: true))
        #expect(snapshot.outlook != routed)
        snapshot.links[0].isRunning = false
        #expect(snapshot.outlook == nil)
    }

    @Test("the network is read from the real kernel, with the loopback link and its address")
    func real() throws {
        let snapshot = try NetlinkSocket().snapshot()
        let loopback = try #require(snapshot.links.first { $0.name == "lo" })
        #expect(loopback.type == 772)
        let address = snapshot.addresses.first { $0.bytes == [127, 0, 0, 1] }
        #expect(address.map(\.index) == (address == nil ? nil : loopback.index))
        #expect(address?.isGlobal != true, "nobody else is reached by it")
    }

    @Test("the network is known once the monitor has started, and a pause ends when it is back")
    func monitor() async {
        let monitor = NetworkMonitor()
        #expect(monitor.state == .unknown(nil))
        #expect(monitor.carries([192, 0, 2, 5]), "nothing is given up for want of knowledge")
        monitor.start()
        #expect(monitor.state != .unknown(nil))
        #expect(await monitor.pause(for: .zero) == false)
        let ending = Task {
            while !Task.isCancelled {
                monitor.endPauses()
                await Task.yield()
            }
        }
        #expect(await monitor.pause(for: .seconds(3600)))
        ending.cancel()
    }
}
