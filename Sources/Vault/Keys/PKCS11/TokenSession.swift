import CPKCS11
import Cryptography
import Glibc

/// A session with a token, valid in the closure that gets it: its objects and their attributes.
struct TokenSession {
    typealias Object = CK_OBJECT_HANDLE

    /// The largest number of objects of one search.
    static let objectLimit = 1024
    /// The largest size of an attribute, in bytes.
    static let attributeLimit = 16 << 10

    let functions: TokenFunctions
    let handle: CK_SESSION_HANDLE
    let token: TokenDescription
    let login: TokenLogin

    /// The objects with all of these attributes.
    func objects(_ template: [TokenAttribute]) throws(VaultError) -> [Object] {
        let operation = "find an object"
        try functions.check(
            operation, template.withC { functions.list.C_FindObjectsInit(handle, $0.baseAddress, CK_ULONG($0.count)) })
        // What it returns changes nothing: the search is over.
        defer { _ = functions.list.C_FindObjectsFinal(handle) }
        var found: [Object] = []
        while true {
            var batch = [Object](repeating: 0, count: 64)
            var count: CK_ULONG = 0
            try functions.check(
                operation, functions.list.C_FindObjects(handle, &batch, CK_ULONG(batch.count), &count))
            guard count <= batch.count, found.count + Int(count) <= Self.objectLimit else {
                throw .token(.unusableAnswer(operation: operation, reason: "it finds too many"))
            }
            guard count > 0 else { return found }
            found += batch.prefix(Int(count))
        }
    }

    /// - Returns: `nil` if the object has no such attribute or does not show it. No other copy of it is left.
    func attribute(_ type: CK_ATTRIBUTE_TYPE, of object: Object) throws(VaultError) -> [UInt8]? {
        let operation = "read an attribute"
        func get(_ attribute: inout CK_ATTRIBUTE) throws(VaultError) -> Int? {
            let code = functions.list.C_GetAttributeValue(handle, object, &attribute, 1)
            if code == CKR_ATTRIBUTE_TYPE_INVALID || code == CKR_ATTRIBUTE_SENSITIVE { return nil }
            try functions.check(operation, code)
            // CK_UNAVAILABLE_INFORMATION, which is no length.
            guard attribute.ulValueLen != .max else { return nil }
            guard attribute.ulValueLen <= Self.attributeLimit else {
                throw .token(.unusableAnswer(operation: operation, reason: "it has \(attribute.ulValueLen) bytes"))
            }
            return Int(attribute.ulValueLen)
        }
        var attribute = CK_ATTRIBUTE(type: type, pValue: nil, ulValueLen: 0)
        guard let count = try get(&attribute), count > 0 else { return attribute.ulValueLen == 0 ? [] : nil }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer {
            explicit_bzero(buffer.baseAddress!, count)
            buffer.deallocate()
        }
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        attribute = CK_ATTRIBUTE(type: type, pValue: buffer.baseAddress, ulValueLen: CK_ULONG(count))
        guard let written = try get(&attribute) else { return nil }
        guard written <= count else {
            throw .token(.unusableAnswer(operation: operation, reason: "it has more bytes than the module said"))
        }
        return Array(buffer.prefix(written))
    }

    /// - Returns: `nil` if the object does not say.
    func flag(_ type: CK_ATTRIBUTE_TYPE, of object: Object) throws(VaultError) -> Bool? {
        guard let value = try attribute(type, of: object), !value.isEmpty else { return nil }
        guard value.count == 1 else {
            throw .token(
                .unusableAnswer(operation: "read an attribute", reason: "a truth value has \(value.count) bytes"))
        }
        return value[0] != 0
    }

    func number(_ type: CK_ATTRIBUTE_TYPE, of object: Object) throws(VaultError) -> UInt? {
        guard let value = try attribute(type, of: object), !value.isEmpty else { return nil }
        guard value.count == MemoryLayout<CK_ULONG>.size else {
            throw .token(.unusableAnswer(operation: "read an attribute", reason: "a number has \(value.count) bytes"))
        }
        return value.withUnsafeBytes { $0.loadUnaligned(as: CK_ULONG.self) }
    }

    func destroy(_ object: Object) throws(VaultError) {
        let code = functions.list.C_DestroyObject(handle, object)
        if code != CKR_OBJECT_HANDLE_INVALID { try functions.check("destroy an object", code) }
    }
}

/// An attribute of an object, as a template has it.
struct TokenAttribute {
    let type: CK_ATTRIBUTE_TYPE
    let value: [UInt8]

    init(_ type: CK_ATTRIBUTE_TYPE, _ value: [UInt8]) {
        self.type = type
        self.value = value
    }

    init(_ type: CK_ATTRIBUTE_TYPE, _ value: String) { self.init(type, Array(value.utf8)) }
    init(_ type: CK_ATTRIBUTE_TYPE, _ value: Bool) { self.init(type, [value ? 1 : 0]) }
    init(_ type: CK_ATTRIBUTE_TYPE, _ value: UInt) { self.init(type, withUnsafeBytes(of: value, Array.init)) }
}

extension [TokenAttribute] {
    /// Gives `body` the attributes as C has them, which are valid in it only.
    func withC<Result>(_ body: (UnsafeMutableBufferPointer<CK_ATTRIBUTE>) -> Result) -> Result {
        let buffers = map { attribute in
            // Numbers are read in place by modules, so they have to be aligned.
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: attribute.value.count, alignment: 16)
            buffer.copyBytes(from: attribute.value)
            return buffer
        }
        defer { for buffer in buffers { buffer.deallocate() } }
        var attributes = zip(self, buffers).map { attribute, buffer in
            CK_ATTRIBUTE(type: attribute.type, pValue: buffer.baseAddress, ulValueLen: CK_ULONG(buffer.count))
        }
        return attributes.withUnsafeMutableBufferPointer { body($0) }
    }
}
