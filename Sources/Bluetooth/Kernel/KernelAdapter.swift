import Glibc

/// A choice of adapter: the first, by number, or by address.
enum AdapterName: Equatable, Sendable {
    case first
    case index(ManagementCommand.Index)
    case address([UInt8])
    /// Any other text: no adapter has such a name.
    case unknown

    /// - Parameter text: empty, `hci1`, or `00:AA:01:00:00:00`
    init(_ text: String) {
        if text.isEmpty {
            self = .first
        } else if text.hasPrefix("hci"), let index = ManagementCommand.Index(text.dropFirst(3)),
            index != ManagementCommand.noIndex
        {
            self = .index(index)
        } else if let address = BluetoothAddress(text, kind: .public) {
            self = .address(address.bytes)
        } else {
            self = .unknown
        }
    }
}

/// An adapter as the kernel describes it.
struct KernelAdapter: Equatable, Sendable {
    let index: ManagementCommand.Index
    let information: AdapterInformation

    var name: String { "hci\(index)" }
    var isPowered: Bool { information.current.contains(.powered) }
    var isReady: Bool { information.current.isSuperset(of: [.powered, .lowEnergy]) }

    /// Why its radio cannot be used; `nil` if it can.
    var blocked: BluetoothError? {
        switch RadioSwitch.state(of: name) {
        case .open: nil
        case .blockedBySoftware: .blocked(adapter: name, hard: false)
        case .blockedByHardware: .blocked(adapter: name, hard: true)
        }
    }
}

extension ManagementSocket {
    /// - Throws: ``BluetoothError/noAdapter(name:)`` if there is none of that name
    func adapter(named text: String) async throws(BluetoothError) -> KernelAdapter {
        let name = AdapterName(text)
        guard let indexes = AdapterInformation.indexes(parsing: try await send(.readIndexList)) else {
            throw .unreadable(.readIndexList)
        }
        for index in indexes {
            if case .index(let wanted) = name, wanted != index { continue }
            guard let adapter = try await adapter(at: index) else { continue }
            if case .address(let wanted) = name, wanted != adapter.information.addressBytes { continue }
            if name != .unknown { return adapter }
        }
        throw .noAdapter(name: text)
    }

    /// The adapter; `nil` if it is gone.
    func adapter(at index: ManagementCommand.Index) async throws(BluetoothError) -> KernelAdapter? {
        let command = ManagementCommand.readInformation(index)
        do throws(BluetoothError) {
            guard let information = AdapterInformation(parsing: try await send(command)) else {
                throw .unreadable(command)
            }
            return KernelAdapter(index: index, information: information)
        } catch {
            // The adapter may vanish at any moment, and return under another number.
            if case .noAdapter = error { return nil }
            throw error
        }
    }

    /// Makes an adapter ready for LE.
    ///
    /// - Parameter mayPower: whether it may be switched on if it is off
    /// - Returns: the adapter's new state
    func ready(_ radio: KernelRadio, mayPower: Bool) async throws(BluetoothError) -> KernelAdapter {
        let found = try await adapter(named: radio.adapter)
        guard let key = radio.privacyKey, !found.information.current.contains(.privacy), found.blocked == nil,
            found.information.supported.contains(.lowEnergy), found.isPowered || mayPower
        else { return try await ready(found, mayPower: mayPower) }
        let command = ManagementCommand.setPrivacy(found.index, key: key)
        if found.isPowered { try await send(.setUnpowered(found.index)) }
        let outcome = await exchange(command)
        guard let now = try await adapter(at: found.index) else { throw .noAdapter(name: radio.adapter) }
        // Another activity of this transport may have done it first.
        if case .answer(let status, _) = outcome, status != .success, !now.information.current.contains(.privacy) {
            throw BluetoothError(status, of: command)
        }
        return try await ready(now, mayPower: true)
    }

    private func ready(_ adapter: KernelAdapter, mayPower: Bool) async throws(BluetoothError) -> KernelAdapter {
        guard adapter.information.supported.contains(.lowEnergy) else { throw .noLowEnergy(adapter: adapter.name) }
        if let blocked = adapter.blocked { throw blocked }
        if adapter.isReady { return adapter }
        guard adapter.isPowered || mayPower else { throw .switchedOff(adapter) }
        if !adapter.information.current.contains(.lowEnergy) { try await send(.setLowEnergy(adapter.index)) }
        var refusal: BluetoothError?
        if !adapter.isPowered {
            do throws(BluetoothError) { try await send(.setPowered(adapter.index)) } catch { refusal = error }
        }
        // Another program may power it at the same moment, and the kernel refuses one of the two.
        guard let now = try await self.adapter(at: adapter.index), now.isReady else {
            throw refusal ?? .noAdapter(name: adapter.name)
        }
        return now
    }
}

extension BluetoothError {
    /// - Parameter number: the `errno`
    static func system(_ operation: String, _ number: Int32) -> BluetoothError {
        switch number {
        case EPERM, EACCES: .noPermission(operation: operation)
        case ENODEV, EHOSTUNREACH, ENETDOWN: .noAdapter(name: "")
        case ETIMEDOUT: .timedOut(operation: operation)
        case EAFNOSUPPORT, EPROTONOSUPPORT:
            .failed(operation: operation, reason: "the kernel has no Bluetooth support, or this service may not use it")
        case EADDRINUSE:
            .failed(operation: operation, reason: "another program, such as bluetoothd, uses the ATT channel")
        default: .failed(operation: operation, reason: String(cString: strerror(number)))
        }
    }

    init(_ status: ManagementStatus, of command: ManagementCommand) {
        let name = command.index == ManagementCommand.noIndex ? "" : "hci\(command.index)"
        self =
            switch status {
            case .permissionDenied: .noPermission(operation: command.operation)
            case .invalidIndex: .noAdapter(name: name)
            case .blocked: .blocked(adapter: name, hard: RadioSwitch.state(of: name) == .blockedByHardware)
            default: .failed(operation: command.operation, reason: status.words)
            }
    }

    static func switchedOff(_ adapter: KernelAdapter) -> BluetoothError {
        .failed(operation: "use \(adapter.name)", reason: "the adapter is switched off")
    }

    static func unreadable(_ command: ManagementCommand) -> BluetoothError {
        .failed(operation: command.operation, reason: "the kernel's answer cannot be read")
    }
}
