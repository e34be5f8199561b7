/// Searches for one characteristic of one service on the other device (Bluetooth Core, Vol 3 Part G 4.4.2, 4.6.1 and
/// 4.7.1).
///
/// Every step continues after the last handle seen, so that it ends whatever the other device answers.
struct Discovery: Sendable {
    /// The other device's answer is malformed.
    struct Malformed: Error {}

    struct Found: Sendable, Equatable {
        var characteristic: RemoteCharacteristic
        /// Handle of the Client Characteristic Configuration.
        var configurationHandle: UInt16?
    }

    enum Progress: Equatable {
        /// Send another request.
        case ask([UInt8])
        case done(Found?)
    }

    private enum Step {
        case services
        /// If the other device does not search by value.
        case groups
        case characteristics
        case descriptors
    }

    /// Limits a hostile device that returns one handle at a time.
    private static let requestLimit = 512
    /// The most instances of the service that are searched.
    private static let serviceLimit = 16

    private let service: BluetoothUUID
    private let uuid: BluetoothUUID
    private var step = Step.services
    /// The handle at which the step continues, up to `bound`.
    private var next: UInt16 = 1
    private var bound: UInt16 = .max
    private var services: [ClosedRange<UInt16>] = []
    private var found: Found?
    private var requests = 0

    init(service: BluetoothUUID, characteristic: BluetoothUUID) {
        self.service = service
        uuid = characteristic
    }

    mutating func begin() -> [UInt8] {
        requests += 1
        let opcode: ATTOpcode
        var what: [UInt8]
        switch step {
        case .services:
            opcode = .findByTypeValueRequest
            what = BluetoothUUID(short: GATTNumber.primaryService).attributeBytes + service.attributeBytes
        case .groups:
            opcode = .readByGroupTypeRequest
            what = BluetoothUUID(short: GATTNumber.primaryService).attributeBytes
        case .characteristics:
            opcode = .readByTypeRequest
            what = BluetoothUUID(short: GATTNumber.characteristic).attributeBytes
        case .descriptors:
            opcode = .findInformationRequest
            what = []
        }
        return ATT.packet(opcode, next, bound, bytes: what)
    }

    /// - Parameter response: the response to the last request, without the opcode
    mutating func receive(_ response: ArraySlice<UInt8>) throws(Malformed) -> Progress {
        var reader = PacketReader(response)
        switch step {
        case .services: try readServices(&reader)
        case .groups: try readGroups(&reader)
        case .characteristics: try readCharacteristics(&reader)
        case .descriptors: try readDescriptors(&reader)
        }
        return try proceed()
    }

    /// - Returns: `nil` if the error is not one that ends a step
    mutating func refused(_ code: ATTErrorCode) throws(Malformed) -> Progress? {
        switch (step, code) {
        case (.services, .attributeNotFound) where services.isEmpty,
            (.services, .requestNotSupported) where services.isEmpty:
            // Some devices do not search by value, others store a short UUID in its long form.
            (step, next) = (.groups, 1)
            return .ask(begin())
        case (_, .attributeNotFound):
            next = 0
            return try proceed()
        default: return nil
        }
    }

    /// Another request of this step, or the next step. A `next` of 0 means that the step is done.
    private mutating func proceed() throws(Malformed) -> Progress {
        guard requests < Self.requestLimit else { throw Malformed() }
        if next != 0 { return .ask(begin()) }
        switch step {
        case .descriptors: return .done(found)
        case .characteristics:
            if let handle = found?.characteristic.handle, handle < bound {
                (step, next) = (.descriptors, handle + 1)
                return .ask(begin())
            }
            if found != nil { return .done(found) }
        case .services, .groups: step = .characteristics
        }
        guard !services.isEmpty else { return .done(nil) }
        let range = services.removeFirst()
        (next, bound) = (range.lowerBound, range.upperBound)
        return .ask(begin())
    }

    /// - Parameter handle: the last handle of an answer
    private mutating func pass(_ handle: UInt16) { next = handle < bound ? handle + 1 : 0 }

    private mutating func readServices(_ reader: inout PacketReader) throws(Malformed) {
        repeat {
            guard let start = reader.uint16(), let end = reader.uint16() else { throw Malformed() }
            try addService(start, end)
        } while !reader.rest.isEmpty
    }

    private mutating func readGroups(_ reader: inout PacketReader) throws(Malformed) {
        guard let length = reader.byte(), length > 4 else { throw Malformed() }
        repeat {
            guard let start = reader.uint16(), let end = reader.uint16(), let value = reader.take(Int(length) - 4)
            else {
                throw Malformed()
            }
            try addService(start, end, isWanted: BluetoothUUID(attributeBytes: value) == service)
        } while !reader.rest.isEmpty
    }

    private mutating func addService(_ start: UInt16, _ end: UInt16, isWanted: Bool = true) throws(Malformed) {
        guard next != 0, start >= next, end >= start else { throw Malformed() }
        if isWanted, services.count < Self.serviceLimit { services.append(start...end) }
        pass(end)
    }

    private mutating func readCharacteristics(_ reader: inout PacketReader) throws(Malformed) {
        guard let length = reader.byte(), length == 7 || length == 21 else { throw Malformed() }
        repeat {
            guard let handle = reader.uint16(), let properties = reader.byte(), let valueHandle = reader.uint16(),
                let type = reader.take(Int(length) - 5), next != 0, handle >= next, handle < valueHandle,
                valueHandle <= bound
            else { throw Malformed() }
            if found != nil {
                // Its descriptors end where the next characteristic begins.
                (bound, next) = (handle - 1, 0)
                return
            }
            if BluetoothUUID(attributeBytes: type) == uuid {
                found = Found(
                    characteristic: RemoteCharacteristic(
                        uuid: uuid, properties: CharacteristicProperties(rawValue: properties),
                        hasConfigurationDescriptor: false,
                        handle: valueHandle))
            }
            pass(valueHandle)
        } while !reader.rest.isEmpty
    }

    private mutating func readDescriptors(_ reader: inout PacketReader) throws(Malformed) {
        guard let format = reader.byte(), format == 1 || format == 2 else { throw Malformed() }
        repeat {
            guard let handle = reader.uint16(), let type = reader.take(format == 1 ? 2 : 16), next != 0, handle >= next
            else {
                throw Malformed()
            }
            if BluetoothUUID(attributeBytes: type)?.shortForm == GATTNumber.configuration {
                found?.configurationHandle = handle
                found?.characteristic.hasConfigurationDescriptor = true
                next = 0
                return
            }
            pass(handle)
        } while !reader.rest.isEmpty
    }
}
