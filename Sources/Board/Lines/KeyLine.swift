import Dispatch
import Glibc
import Synchronization

/// A button that a driver of the kernel shows as a key: gpio-keys, adc-keys and the like. The driver knows its line,
/// its level and its resistor, and most debounce it.
final class KeyLine: InputLine {
    /// Keys that end or suspend the machine, which are not for the agent: power, sleep, wake-up and restart.
    private static let ofMachine: Set<UInt16> = [116, 142, 143, 408]

    private let device: InputDevice
    private let name: String
    private let key: UInt16?
    private let down: Mutex<Set<UInt16>>

    /// - Throws: ``BoardError/partAbsent(_:names:)``, ``BoardError/partFailed(_:name:reason:)``
    init(devices: [String], key: UInt16?, on machine: Machine) throws(BoardError) {
        var found: (name: String, path: String)?
        for name in devices {
            guard let path = try? InputDevice.path(of: name, on: machine) else { continue }
            found = (name, path)
            break
        }
        guard let found else { throw .partAbsent(.input, names: devices) }
        self.name = found.name
        self.key = key
        do {
            device = try InputDevice(found.path, isHeld: false)
            try device.useMonotonicClock()
        } catch {
            throw .partFailed(.input, name: found.name, reason: error.reason)
        }
        down = Mutex(device.keysDown().filter { Self.counts($0, key) })
    }

    /// Whether a key is one of the button's.
    static func counts(_ code: UInt16, _ key: UInt16?) -> Bool {
        if let key { code == key } else { !ofMachine.contains(code) }
    }

    func isActive() throws(BoardError) -> Bool { down.withLock { !$0.isEmpty } }

    func takeEdges() throws(BoardError) -> LineEdges? {
        let events: [KeyEvent]
        do {
            events = try device.pendingEvents()
        } catch {
            throw .partFailed(.input, name: name, reason: error.reason)
        }
        let isRenewed = events.contains(where: \.saysDropped)
        return down.withLock { down in
            let edges = Self.edges(of: events, &down, key)
            guard isRenewed else { return edges.isEmpty ? nil : LineEdges(edges) }
            // It is unknown what was dropped, so the level is read again.
            let now = MonotonicClock().now
            down = device.keysDown().filter { Self.counts($0, key) }
            return LineEdges(edges + [LineEdge(time: now, isActive: !down.isEmpty)], lostUntil: now)
        }
    }

    /// The changes of the button by the events of its keys. Pure.
    static func edges(of events: [KeyEvent], _ down: inout Set<UInt16>, _ key: UInt16?) -> [LineEdge] {
        var edges: [LineEdge] = []
        for event in events {
            guard let change = event.key, counts(change.code, key) else { continue }
            let wasActive = !down.isEmpty
            if change.isDown { down.insert(change.code) } else { down.remove(change.code) }
            if down.isEmpty == wasActive { edges.append(LineEdge(time: event.time, isActive: !down.isEmpty)) }
        }
        return edges
    }

    func waitForEdge() async {
        var descriptor = pollfd(fd: device.descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, 0) != 1 else { return }
        await firstEvent(of: { [device] in
            DispatchSource.makeReadSource(fileDescriptor: device.descriptor, queue: .global())
        })
    }
}
