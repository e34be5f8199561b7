/// Discovery of the database by a client (Bluetooth Core, Vol 3 Part F 3.4.3 and 3.4.4).
extension GATTServer {
    /// Part F 3.4.3.1: handles and types, all of one width.
    func findInformation(_ reader: inout PacketReader) throws(ATTRefusal) -> [UInt8] {
        let range = try handles(&reader)
        guard reader.rest.isEmpty else { throw ATTRefusal(.invalidPDU) }
        let found = database[range]
        guard let first = found.first else { throw ATTRefusal(.attributeNotFound, at: range.lowerBound) }
        let width = first.type.attributeBytes.count
        var response = [ATTOpcode.findInformationResponse.rawValue, width == 2 ? 1 : 2]
        for attribute in found {
            let type = attribute.type.attributeBytes
            guard type.count == width, response.count + 2 + width <= mtu else { break }
            response.append(littleEndian: attribute.handle)
            response += type
        }
        return response
    }

    /// Part F 3.4.3.3: the groups of a type and a value, such as the services of a UUID.
    func findByTypeValue(_ reader: inout PacketReader) throws(ATTRefusal) -> [UInt8] {
        let range = try handles(&reader)
        guard let number = reader.uint16() else { throw ATTRefusal(.invalidPDU) }
        let type = BluetoothUUID(short: number)
        var response = [ATTOpcode.findByTypeValueResponse.rawValue]
        for attribute in database[range] where attribute.type == type && attribute.content == .fixed(Array(reader.rest))
        {
            guard response.count + 4 <= mtu else { break }
            response.append(littleEndian: attribute.handle)
            response.append(littleEndian: attribute.groupEnd)
        }
        guard response.count > 1 else { throw ATTRefusal(.attributeNotFound, at: range.lowerBound) }
        return response
    }

    /// Part F 3.4.4.1: the values of a type, up to the first that cannot be read or has another length.
    func readByType(_ reader: inout PacketReader) throws(ATTRefusal) -> [UInt8] {
        let range = try handles(&reader)
        guard let type = BluetoothUUID(attributeBytes: reader.rest) else { throw ATTRefusal(.invalidPDU) }
        var entries: [(handles: [UInt16], value: [UInt8])] = []
        for attribute in database[range] where attribute.type == type {
            do throws(ATTRefusal) {
                entries.append(([attribute.handle], try value(of: attribute)))
            } catch {
                guard !entries.isEmpty else { throw error }
                break
            }
        }
        return try list(.readByTypeResponse, entries, from: range.lowerBound, valueLimit: min(mtu - 4, 253))
    }

    /// Part F 3.4.4.9: the services, with their ranges.
    func readByGroupType(_ reader: inout PacketReader) throws(ATTRefusal) -> [UInt8] {
        let range = try handles(&reader)
        guard let type = BluetoothUUID(attributeBytes: reader.rest) else { throw ATTRefusal(.invalidPDU) }
        guard [GATTNumber.primaryService, GATTNumber.secondaryService].contains(type.shortForm) else {
            throw ATTRefusal(.unsupportedGroupType, at: range.lowerBound)
        }
        let entries = database[range].compactMap { attribute -> (handles: [UInt16], value: [UInt8])? in
            guard attribute.type == type, case .fixed(let value) = attribute.content else { return nil }
            return ([attribute.handle, attribute.groupEnd], value)
        }
        return try list(.readByGroupTypeResponse, entries, from: range.lowerBound, valueLimit: min(mtu - 6, 251))
    }

    /// Entries of one length, as many as fit. Only the first may be cut.
    private func list(
        _ opcode: ATTOpcode, _ entries: [(handles: [UInt16], value: [UInt8])], from start: UInt16, valueLimit: Int
    ) throws(ATTRefusal) -> [UInt8] {
        guard let first = entries.first else { throw ATTRefusal(.attributeNotFound, at: start) }
        let valueLength = min(first.value.count, valueLimit)
        let length = 2 * first.handles.count + valueLength
        var response = [opcode.rawValue, UInt8(length)]
        for entry in entries {
            guard min(entry.value.count, valueLimit) == valueLength, response.count + length <= mtu else { break }
            for handle in entry.handles { response.append(littleEndian: handle) }
            response += entry.value.prefix(valueLength)
        }
        return response
    }

    private func handles(_ reader: inout PacketReader) throws(ATTRefusal) -> ClosedRange<UInt16> {
        guard let start = reader.uint16(), let end = reader.uint16() else { throw ATTRefusal(.invalidPDU) }
        guard start > 0, start <= end else { throw ATTRefusal(.invalidHandle, at: start) }
        return start...end
    }
}
