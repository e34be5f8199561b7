/// Reading and writing (Bluetooth Core, Vol 3 Part F 3.4.4 to 3.4.6).
extension GATTServer {
    func read(_ reader: inout PacketReader) throws(ATTRefusal) -> [UInt8] {
        let attribute = try attribute(&reader)
        guard reader.rest.isEmpty else { throw ATTRefusal(.invalidPDU) }
        return [ATTOpcode.readResponse.rawValue] + (try value(of: attribute)).prefix(mtu - 1)
    }

    /// Part F 3.4.4.5: the rest of a long value after an offset.
    func readBlob(_ reader: inout PacketReader) throws(ATTRefusal) -> [UInt8] {
        let attribute = try attribute(&reader)
        guard let offset = reader.uint16(), reader.rest.isEmpty else { throw ATTRefusal(.invalidPDU) }
        let value = try value(of: attribute)
        guard Int(offset) <= value.count else { throw ATTRefusal(.invalidOffset, at: attribute.handle) }
        return [ATTOpcode.readBlobResponse.rawValue] + value.dropFirst(Int(offset)).prefix(mtu - 1)
    }

    mutating func write(_ reader: inout PacketReader, _ events: inout [PeripheralEvent]) throws(ATTRefusal) {
        let attribute = try attribute(&reader)
        let value = Array(reader.rest)
        try checkWrite(attribute)
        try check(value, for: attribute)
        apply(value, to: attribute, &events)
    }

    /// Part F 3.4.6.1: the answer repeats the request, so that the client can compare.
    mutating func prepareWrite(_ reader: inout PacketReader) throws(ATTRefusal) -> [UInt8] {
        let request = reader.rest
        // The answer is as long as the request and has to fit: this request exceeds the negotiated size.
        guard request.count < mtu else { throw ATTRefusal(.invalidPDU) }
        let attribute = try attribute(&reader)
        guard let offset = reader.uint16() else { throw ATTRefusal(.invalidPDU) }
        try checkWrite(attribute)
        try prepared.add(Array(reader.rest), at: Int(offset), of: attribute.handle)
        return [ATTOpcode.prepareWriteResponse.rawValue] + request
    }

    /// Part F 3.4.6.3: writes all of the prepared values, or none.
    mutating func executeWrite(_ reader: inout PacketReader, _ events: inout [PeripheralEvent]) throws(ATTRefusal)
        -> [UInt8]
    {
        guard let flags = reader.byte(), reader.rest.isEmpty, flags <= 1 else { throw ATTRefusal(.invalidPDU) }
        defer { prepared.clear() }
        if flags == 1 {
            let values = try prepared.values()
            for value in values {
                let attribute = try known(value.handle)
                try checkWrite(attribute)
                try check(value.bytes, for: attribute)
            }
            for value in values { apply(value.bytes, to: try known(value.handle), &events) }
        }
        return [ATTOpcode.executeWriteResponse.rawValue]
    }

    func value(of attribute: AttributeDatabase.Attribute) throws(ATTRefusal) -> [UInt8] {
        switch attribute.content {
        case .fixed(let value): return value
        case .value(let index):
            guard database.characteristics[index].properties.contains(.read) else {
                throw ATTRefusal(.readNotPermitted, at: attribute.handle)
            }
            try checkSecurity(index, attribute)
            return values[index] ?? []
        // Readable without security, as it belongs to the client (Part G 3.3.3.3).
        case .configuration(let index):
            let configuration = configurations[index] ?? 0
            return [UInt8(truncatingIfNeeded: configuration), UInt8(configuration >> 8)]
        }
    }

    private func attribute(_ reader: inout PacketReader) throws(ATTRefusal) -> AttributeDatabase.Attribute {
        guard let handle = reader.uint16() else { throw ATTRefusal(.invalidPDU) }
        return try known(handle)
    }

    private func known(_ handle: UInt16) throws(ATTRefusal) -> AttributeDatabase.Attribute {
        guard let attribute = database[handle] else { throw ATTRefusal(.invalidHandle, at: handle) }
        return attribute
    }

    /// Either form of a write is accepted if one is declared: some clients do not check (MAG 8.1).
    private func checkWrite(_ attribute: AttributeDatabase.Attribute) throws(ATTRefusal) {
        switch attribute.content {
        case .fixed: throw ATTRefusal(.writeNotPermitted, at: attribute.handle)
        case .value(let index):
            guard !database.characteristics[index].properties.isDisjoint(with: [.write, .writeWithoutResponse]) else {
                throw ATTRefusal(.writeNotPermitted, at: attribute.handle)
            }
            try checkSecurity(index, attribute)
        case .configuration(let index): try checkSecurity(index, attribute)
        }
    }

    private func check(_ value: [UInt8], for attribute: AttributeDatabase.Attribute) throws(ATTRefusal) {
        guard case .configuration = attribute.content else {
            guard value.count <= ATT.valueLimit else { throw ATTRefusal(.invalidValueLength, at: attribute.handle) }
            return
        }
        guard value.count == 2 else { throw ATTRefusal(.invalidValueLength, at: attribute.handle) }
        guard value[0] <= 3, value[1] == 0 else { throw ATTRefusal(.valueNotAllowed, at: attribute.handle) }
    }

    /// Part C 10.3.1: the error tells the client whether to pair or to encrypt.
    private func checkSecurity(_ index: Int, _ attribute: AttributeDatabase.Attribute) throws(ATTRefusal) {
        guard database.characteristics[index].requiresEncryption else { return }
        switch security {
        case .encrypted: return
        case .bonded: throw ATTRefusal(.insufficientEncryption, at: attribute.handle)
        case .open: throw ATTRefusal(.insufficientAuthentication, at: attribute.handle)
        }
    }

    private mutating func apply(
        _ value: [UInt8], to attribute: AttributeDatabase.Attribute, _ events: inout [PeripheralEvent]
    ) {
        switch attribute.content {
        case .fixed: break
        case .value(let index):
            events.append(.written(central, characteristic: database.characteristics[index].uuid, value: value))
        case .configuration(let index):
            // Both modes are accepted whatever is declared: some clients enable indications of a characteristic that
            // only notifies.
            let before = Self.mode(configurations[index] ?? 0)
            configurations[index] = UInt16(value[0])
            let mode = Self.mode(UInt16(value[0]))
            guard index >= database.firstOfApplication, mode != before else { return }
            let uuid = database.characteristics[index].uuid
            events.append(
                mode.map { .subscribed(central, characteristic: uuid, $0) }
                    ?? .unsubscribed(central, characteristic: uuid))
        }
    }
}
