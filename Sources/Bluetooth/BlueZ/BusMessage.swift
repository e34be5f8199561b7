import CSystemd

/// A message of sd-bus, released with the last reference.
///
/// Appending only fails for lack of memory or a wrong type here, so the first failure makes the message unusable, and
/// sending it reports that.
final class BusMessage {
    let handle: OpaquePointer
    private let calls: latchkey_bus_calls
    private(set) var status: CInt = 0

    /// Takes over a reference.
    init(owning handle: OpaquePointer, _ calls: latchkey_bus_calls) {
        self.handle = handle
        self.calls = calls
    }

    /// Adds a reference of its own.
    convenience init(sharing handle: OpaquePointer, _ calls: latchkey_bus_calls) {
        _ = calls.message_ref(handle)
        self.init(owning: handle, calls)
    }

    deinit { _ = calls.message_unref(handle) }

    // MARK: Head

    var kind: UInt8 {
        var kind: UInt8 = 0
        return calls.get_type(handle, &kind) >= 0 ? kind : 0
    }

    var cookie: UInt64 {
        var cookie: UInt64 = 0
        return calls.get_cookie(handle, &cookie) >= 0 ? cookie : 0
    }

    var replyCookie: UInt64 {
        var cookie: UInt64 = 0
        return calls.get_reply_cookie(handle, &cookie) >= 0 ? cookie : 0
    }

    var path: String { text(calls.get_path(handle)) }
    var interface: String { text(calls.get_interface(handle)) }
    var member: String { text(calls.get_member(handle)) }
    var sender: String { text(calls.get_sender(handle)) }

    var failure: BusFailure? {
        guard let error = calls.get_error(handle), error.pointee.name != nil else { return nil }
        return BusFailure(name: text(error.pointee.name), text: text(error.pointee.message))
    }

    private func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

    // MARK: Reading

    /// All arguments. Containers deeper than those of `GetManagedObjects` are skipped.
    func arguments() -> [BusValue] { values(depth: 0) }

    private static let deepest = 8

    private func values(depth: Int) -> [BusValue] {
        var values: [BusValue] = []
        while let value = next(depth: depth) { values.append(value) }
        return values
    }

    private func next(depth: Int) -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard calls.peek_type(handle, &type, &contents) > 0 else { return nil }
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "y"): return number(UInt8.self, type)
        case UInt8(ascii: "n"): return number(Int16.self, type)
        case UInt8(ascii: "q"): return number(UInt16.self, type)
        case UInt8(ascii: "i"): return number(Int32.self, type)
        case UInt8(ascii: "u"): return number(UInt32.self, type)
        case UInt8(ascii: "x"): return number(Int64.self, type)
        case UInt8(ascii: "t"): return number(UInt64.self, type)
        case UInt8(ascii: "b"):
            var value: CInt = 0
            return calls.read_basic(handle, type, &value) > 0 ? .flag(value != 0) : nil
        case UInt8(ascii: "s"), UInt8(ascii: "o"), UInt8(ascii: "g"):
            var value: UnsafePointer<CChar>?
            return calls.read_basic(handle, type, &value) > 0 ? .text(text(value)) : nil
        case let container where depth < Self.deepest:
            return self.container(container, type, contents, depth: depth)
        default: return calls.skip(handle, nil) >= 0 ? .other : nil
        }
    }

    private func number<N: FixedWidthInteger>(_: N.Type, _ type: CChar) -> BusValue? {
        var value: N = 0
        return calls.read_basic(handle, type, &value) > 0 ? .number(Int64(clamping: value)) : nil
    }

    private func container(_ kind: UInt8, _ type: CChar, _ contents: UnsafePointer<CChar>?, depth: Int) -> BusValue? {
        let signature = text(contents)
        switch kind {
        case UInt8(ascii: "a") where signature == "y":
            var start: UnsafeRawPointer?
            var count = 0
            guard calls.read_array(handle, Code.byte, &start, &count) >= 0 else { return nil }
            return .bytes([UInt8](UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)))
        case UInt8(ascii: "a") where signature.hasPrefix("{s") || signature.hasPrefix("{o"):
            guard calls.enter_container(handle, type, contents) > 0 else { return nil }
            var table: [String: BusValue] = [:]
            while let (key, value) = entry(signature, depth: depth + 1) { table[key] = value }
            return calls.exit_container(handle) >= 0 ? .table(table) : nil
        case UInt8(ascii: "a") where !signature.hasPrefix("{"):
            guard calls.enter_container(handle, type, contents) > 0 else { return nil }
            let list = values(depth: depth + 1)
            return calls.exit_container(handle) >= 0 ? .list(list) : nil
        case UInt8(ascii: "v"):
            guard calls.enter_container(handle, type, contents) > 0 else { return nil }
            let value = next(depth: depth + 1)
            return calls.exit_container(handle) >= 0 ? value : nil
        default: return calls.skip(handle, nil) >= 0 ? .other : nil
        }
    }

    private func entry(_ signature: String, depth: Int) -> (String, BusValue)? {
        let inner = String(signature.dropFirst().dropLast())
        guard calls.enter_container(handle, Code.entry, inner) > 0 else { return nil }
        guard let key = next(depth: depth)?.text, let value = next(depth: depth) else { return nil }
        return calls.exit_container(handle) >= 0 ? (key, value) : nil
    }

    // MARK: Writing

    func append(_ arguments: [BusArgument]) {
        for argument in arguments { append(argument) }
    }

    func append(_ argument: BusArgument) {
        switch argument {
        case .flag(let value):
            var number: CInt = value ? 1 : 0
            note(calls.append_basic(handle, Code.flag, &number))
        case .text(let value): note(calls.append_basic(handle, Code.text, value))
        case .path(let value): note(calls.append_basic(handle, Code.path, value))
        case .bytes(let value): note(calls.append_array(handle, Code.byte, value, value.count))
        case .texts(let values): inside(Code.array, "s") { for value in values { append(.text(value)) } }
        case .variant(let value): inside(Code.variant, value.signature) { append(value) }
        case .options(let entries): append(entries)
        case .objects(let objects):
            inside(Code.array, "{oa{sa{sv}}}") {
                for object in objects {
                    inside(Code.entry, "oa{sa{sv}}") {
                        append(.path(object.path))
                        inside(Code.array, "{sa{sv}}") {
                            inside(Code.entry, "sa{sv}") {
                                append(.text(object.interface))
                                append(object.properties)
                            }
                        }
                    }
                }
            }
        }
    }

    private func append(_ entries: [(String, BusArgument)]) {
        inside(Code.array, "{sv}") {
            for (key, value) in entries {
                inside(Code.entry, "sv") {
                    append(.text(key))
                    append(.variant(value))
                }
            }
        }
    }

    private func inside(_ type: CChar, _ contents: String, _ body: () -> Void) {
        note(calls.open_container(handle, type, contents))
        body()
        note(calls.close_container(handle))
    }

    private func note(_ result: CInt) { if status >= 0, result < 0 { status = result } }

    /// Type codes of the D-Bus specification as C characters.
    private enum Code {
        static let byte = CChar(UInt8(ascii: "y"))
        static let flag = CChar(UInt8(ascii: "b"))
        static let text = CChar(UInt8(ascii: "s"))
        static let path = CChar(UInt8(ascii: "o"))
        static let array = CChar(UInt8(ascii: "a"))
        static let variant = CChar(UInt8(ascii: "v"))
        static let entry = CChar(UInt8(ascii: "e"))
    }
}
