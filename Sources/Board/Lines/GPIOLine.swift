import CGPIOD
import Dispatch
import Glibc
import Groundwork
import Synchronization

/// A line of a GPIO chip, requested from the kernel. Released with the last reference.
final class GPIOLine: InputLine, OutputLine, @unchecked Sendable {
    // `@unchecked Sendable` is correct because `handle` and `chip` are only accessed while holding `lock`, except in
    // `init` and `deinit`, where there is no other reference; everything else is constant.
    private let lock = Mutex(())
    private let chip: GPIOChip
    private var handle: latchkey_line
    private let descriptor: Int32
    private let name: String

    /// The name under which `gpioinfo` shows the lines the agent holds.
    static let consumer = "latchkey"

    /// - Parameter isOutput: whether the line is driven, inactive at first; otherwise its edges are watched.
    /// - Throws: ``BoardError``, among it ``BoardError/lineBusy(chip:line:consumer:)``
    init(chip label: String, line: LineSelector, of definition: LineDefinition, isOutput: Bool, on machine: Machine)
        throws(BoardError)
    {
        let chip = try GPIOChip(labeled: label, on: machine)
        let offset = try chip.offset(of: line)
        var handle = latchkey_line()
        let error = latchkey_line_request(
            chip.handle, offset, Self.consumer, isOutput, definition.active == .low, definition.bias.flag, &handle)
        guard error == 0 else {
            if error == EBUSY {
                throw BoardError.lineBusy(chip: label, line: line, consumer: try chip.consumer(of: offset) ?? "")
            }
            throw BoardError.lineFailed(
                operation: "request line \(line)", chip: label, reason: Errno(error).description)
        }
        self.chip = chip
        self.handle = handle
        name = line.description
        descriptor = isOutput ? -1 : latchkey_line_descriptor(&handle)
    }

    deinit { latchkey_line_release(&handle) }

    func isActive() throws(BoardError) -> Bool {
        var level: Int32 = 0
        let error = lock.withLock { _ in latchkey_line_get(&handle, &level) }
        try check(error, "read")
        return level == 1
    }

    func set(active: Bool) throws(BoardError) {
        try check(lock.withLock { _ in latchkey_line_set(&handle, active ? 1 : 0) }, "set")
    }

    func takeEdges() throws(BoardError) -> LineEdges? {
        var read = [latchkey_edge](repeating: latchkey_edge(), count: Int(LATCHKEY_EDGES))
        var edges: [LineEdge] = []
        var lostUntil: Duration?
        // Bounded: a line that fills the kernel's queue faster than this empties it is read again later.
        for _ in 0..<4 where isReadable {
            var count: Int32 = 0
            let error = lock.withLock { _ in latchkey_line_read_edges(&handle, &read, &count) }
            try check(error, "read the edges")
            edges += read.prefix(Int(count)).map {
                LineEdge(time: .nanoseconds(Int64(clamping: $0.nanoseconds)), isActive: $0.active)
            }
            // The queue was full, so the newest or the oldest edges were lost, depending on the kernel interface.
            if count == LATCHKEY_EDGES { lostUntil = MonotonicClock().now }
        }
        return edges.isEmpty ? nil : LineEdges(edges, lostUntil: lostUntil)
    }

    func waitForEdge() async {
        guard !isReadable else { return }
        await firstEvent(of: { DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global()) })
    }

    /// Whether reading the edges would not block. Also true if the chip is gone: the read then fails.
    private var isReadable: Bool {
        var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) == 1
    }

    private func check(_ error: Int32, _ operation: String) throws(BoardError) {
        guard error == 0 else {
            throw BoardError.lineFailed(
                operation: "\(operation) of line \(name)", chip: chip.label, reason: Errno(error).description)
        }
    }
}

extension LineBias {
    fileprivate var flag: latchkey_bias {
        switch self {
        case .asIs: LATCHKEY_BIAS_AS_IS
        case .disabled: LATCHKEY_BIAS_DISABLED
        case .pullUp: LATCHKEY_BIAS_PULL_UP
        case .pullDown: LATCHKEY_BIAS_PULL_DOWN
        }
    }
}
