import CPKCS11
import Cryptography

/// Where a key is: what the vault keeps of it.
struct TokenKeyHandle: Equatable {
    private static let purpose = "latchkey token key 1"

    /// `CKA_ID`; may be empty for a key that was not made here.
    let id: [UInt8]
    /// `CKA_LABEL`; may be empty for a key that was not made here.
    let label: [UInt8]
    /// Of the token.
    let serial: String
    /// Whether it was made by ``TokenKeys/make(_:name:of:)``, which may remove it too.
    let isOurs: Bool

    init(id: [UInt8], label: [UInt8], serial: String, isOurs: Bool) {
        (self.id, self.label, self.serial, self.isOurs) = (id, label, serial, isOurs)
    }

    /// - Throws: ``TokenError/handleInvalid``
    init(_ handle: SecretBytes) throws(VaultError) {
        guard var reader = FieldReader(handle.exposed(), purpose: Self.purpose), let id = reader.field(),
            let label = reader.field(), let serial = reader.text(), let origin = reader.int64(), reader.isAtEnd,
            id.count <= TokenURI.nameLimit, label.count <= TokenURI.nameLimit, !id.isEmpty || !label.isEmpty,
            (0...1).contains(origin)
        else { throw .token(.handleInvalid) }
        self.init(id: id, label: label, serial: serial, isOurs: origin == 1)
    }

    var encoded: SecretBytes {
        var writer = FieldWriter(purpose: Self.purpose)
        writer.append(id)
        writer.append(label)
        writer.append(serial)
        writer.append(isOurs ? 1 : 0)
        return SecretBytes(writer.bytes)
    }

    /// How errors call the key.
    var name: String { String(decoding: label, as: UTF8.self) }

    /// What finds it. A key that was made here has both; the label of another may change without harm.
    fileprivate var template: [TokenAttribute] {
        let (byID, byLabel) = (TokenAttribute(CKA_ID, id), TokenAttribute(CKA_LABEL, label))
        return isOurs ? [byID, byLabel] : [id.isEmpty ? byLabel : byID]
    }
}

extension TokenSession {
    /// - Throws: ``TokenError/noToken(uri:)`` if another token has taken the place of the key's.
    func check(_ handle: TokenKeyHandle) throws(VaultError) {
        guard token.serial == handle.serial else {
            var uri = TokenURI()
            uri.serial = handle.serial
            throw .token(.noToken(uri: uri.description))
        }
    }

    /// The one private key of a handle.
    func privateKey(_ handle: TokenKeyHandle) throws(VaultError) -> Object {
        try check(handle)
        return try only(handle.template + [TokenAttribute(CKA_CLASS, CKO_PRIVATE_KEY)], name: handle.name)
    }

    /// The private and the public key of a handle.
    func pair(_ handle: TokenKeyHandle) throws(VaultError) -> [Object] {
        try check(handle)
        var found: [Object] = []
        for kind in [CKO_PRIVATE_KEY, CKO_PUBLIC_KEY] {
            found += try objects(handle.template + [TokenAttribute(CKA_CLASS, kind)])
        }
        return found
    }

    /// - Throws: ``TokenError/noKey(name:)``, ``TokenError/severalKeys(name:count:)``
    func only(_ template: [TokenAttribute], name: String) throws(VaultError) -> Object {
        let found = try objects(template)
        guard let key = found.first else { throw .token(.noKey(name: name)) }
        guard found.count == 1 else { throw .token(.severalKeys(name: name, count: found.count)) }
        return key
    }

    /// The one key of a class that a URI names.
    ///
    /// - Throws: as above, and ``TokenError/uriInvalid(reason:)`` for a URI that names no object.
    func key(_ uri: TokenURI, _ kind: CK_OBJECT_CLASS) throws(VaultError) -> Object {
        guard uri.object != nil || uri.id != nil else {
            throw .token(.uriInvalid(reason: "it names no key: object or id is missing"))
        }
        var template = [TokenAttribute(CKA_CLASS, kind)]
        if let label = uri.object { template.append(TokenAttribute(CKA_LABEL, label)) }
        if let id = uri.id { template.append(TokenAttribute(CKA_ID, id)) }
        return try only(template, name: uri.description)
    }
}
