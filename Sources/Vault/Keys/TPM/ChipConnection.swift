import CTSS2
import Cryptography
import Glibc
import Groundwork

/// An open connection to a TPM, with the sessions and objects of one operation. Used by one thread.
final class ChipConnection {
    /// An object or session as the software stack numbers it.
    typealias Handle = ESYS_TR

    /// No object, and no session.
    static let none = Handle(ESYS_TR_NONE)

    let library: ChipLibrary
    let context: OpaquePointer
    private var channel: OpaquePointer?
    /// What is loaded, in the order in which it was.
    private var loaded: [Handle] = []
    /// The storage root key, and its name.
    private(set) var primary = none
    private(set) var primaryName: [UInt8] = []

    var esys: latchkey_esys_calls { library.esys.calls }

    init(_ library: ChipLibrary, place: String) throws(ChipError) {
        self.library = library
        let opened = library.connection.calls.open(place, &channel)
        guard opened == 0 else { throw ChipPlace(place).openingError(ChipCode(raw: opened)) }
        var context: OpaquePointer?
        let code = ChipCode(raw: library.esys.calls.initialize(&context, channel, nil))
        guard let context else {
            library.connection.calls.close(&channel)
            throw code.error("connect to it") ?? .answerMalformed(operation: "connect to it")
        }
        self.context = context
    }

    /// Removes from the chip what was loaded, also after an error, and closes the connection.
    func close() {
        for handle in loaded.reversed() { remove(handle) }
        var context: OpaquePointer? = context
        esys.finalize(&context)
        library.connection.calls.close(&channel)
    }

    /// Removes an object or session, also from a chip that is busy. One that cannot be removed is gone with its
    /// connection, or stays until the chip is restarted.
    private func remove(_ handle: Handle) {
        for _ in 0..<10 {
            let code = ChipCode(raw: esys.flush(context, handle))
            guard case .busy? = code.error("remove an object") else { return }
            usleep(20_000)
        }
    }

    func check(_ operation: String, _ code: UInt32) throws(ChipError) {
        if let error = ChipCode(raw: code).error(operation) { throw error }
    }

    /// Removes something from the chip before the end of the operation.
    func flush(_ handle: Handle) throws(ChipError) {
        loaded.removeAll { $0 == handle }
        try check("remove an object", esys.flush(context, handle))
    }

    /// Loads something that is to be flushed.
    func load(_ operation: String, _ call: (inout Handle) -> UInt32) throws(ChipError) -> Handle {
        var handle = Self.none
        try check(operation, call(&handle))
        loaded.append(handle)
        return handle
    }

    /// Reads what the stack has allocated, and frees it.
    func take<Structure, Result>(
        _ operation: String, _ pointer: UnsafeMutablePointer<Structure>?, _ read: (inout Structure) -> Result?
    ) throws(ChipError) -> Result {
        guard let pointer else { throw .answerMalformed(operation: operation) }
        defer { esys.free(pointer) }
        guard let result = read(&pointer.pointee) else { throw .answerMalformed(operation: operation) }
        return result
    }

    /// Reads a secret that the stack has allocated, wipes it and frees it.
    func takeSecret<Structure: SizedBuffer>(
        _ operation: String, _ pointer: UnsafeMutablePointer<Structure>?
    ) throws(ChipError) -> SecretBytes {
        try take(operation, pointer) { structure in
            let secret = structure.withBytes { SecretBytes($0) }
            structure.wipeBytes()
            return secret
        }
    }

    // MARK: The primary key and sessions

    /// - Throws: ``ChipError/otherChip`` if the primary key has another name than this.
    func makePrimary(owner: SecretBytes?, named expected: [UInt8]?) throws(ChipError) {
        let operation = "make the storage root key"
        var authorization = Handle(ESYS_TR_PASSWORD)
        if let owner {
            // No session can be salted yet; the value itself is not sent.
            authorization = try startSession(UInt8(TPM2_SE_HMAC))
            try authorize(Handle(ESYS_TR_RH_OWNER), owner)
        }
        var template = try publicArea(ChipTemplate.storage.bytes, operation)
        var (nothing, data, registers) = (TPM2B_SENSITIVE_CREATE(), TPM2B_DATA(), TPML_PCR_SELECTION())
        var code: UInt32 = 0
        do throws(ChipError) {
            primary = try load(operation) { handle in
                code = esys.create_primary(
                    context, Handle(ESYS_TR_RH_OWNER), authorization, Self.none, Self.none, &nothing, &template, &data,
                    &registers, &handle, nil, nil, nil, nil)
                return code
            }
        } catch {
            throw ChipCode(raw: code).isUnauthorized ? .ownerUnauthorized : error
        }
        if owner != nil { try flush(authorization) }
        primaryName = try name(of: primary)
        if let expected, expected != primaryName { throw .otherChip }
    }

    /// A session whose key only the chip with the primary key can know, and which encrypts the first parameter of
    /// commands and answers with AES-128 in CFB mode.
    func startSaltedSession(_ type: UInt8 = UInt8(TPM2_SE_HMAC)) throws(ChipError) -> Handle {
        try startSession(type, salted: primary)
    }

    private func startSession(_ type: UInt8, salted: Handle = none) throws(ChipError) -> Handle {
        var cipher = TPMT_SYM_DEF()
        cipher.algorithm = UInt16(TPM2_ALG_AES)
        cipher.keyBits.aes = 128
        cipher.mode.aes = UInt16(TPM2_ALG_CFB)
        return try load("start a session") { handle in
            esys.start_session(
                context, salted, Self.none, Self.none, Self.none, Self.none, nil, type, &cipher,
                UInt16(TPM2_ALG_SHA256), &handle)
        }
    }

    /// Sets which parameters of the next command are encrypted; a command without such a one refuses it.
    func encrypt(_ session: Handle, command: Bool, answer: Bool) throws(ChipError) {
        var attributes = UInt8(TPMA_SESSION_CONTINUESESSION)
        if command { attributes |= UInt8(TPMA_SESSION_DECRYPT) }
        if answer { attributes |= UInt8(TPMA_SESSION_ENCRYPT) }
        try check("encrypt a session", esys.set_session_attributes(context, session, attributes, 0xFF))
    }

    /// Sets the authorization value that the stack uses for an object.
    func authorize(_ handle: Handle, _ value: SecretBytes) throws(ChipError) {
        var sized = try sized(value)
        defer { wipe(structure: &sized) }
        try check("use an authorization value", esys.set_auth(context, handle, &sized))
    }

    /// An authorization value in the stack's own form, which the caller wipes.
    func sized(_ value: SecretBytes) throws(ChipError) -> TPM2B_AUTH {
        // Chips drop zeros at the end (TPM 2.0 part 1 section 17.6.4.3).
        let sized = value.withUnsafeBytes { bytes in
            TPM2B_AUTH(bytes.prefix((bytes.lastIndex { $0 != 0 } ?? -1) + 1))
        }
        // Only an owner's can be longer than a chip allows; those of this program have 32 bytes.
        guard let sized else { throw .ownerUnauthorized }
        return sized
    }

    func name(of handle: Handle) throws(ChipError) -> [UInt8] {
        let operation = "read a name"
        var name: UnsafeMutablePointer<TPM2B_NAME>?
        try check(operation, esys.get_name(context, handle, &name))
        return try take(operation, name) { name in
            let bytes = name.withBytes { Array($0) }
            return ChipObject.isName(bytes) ? bytes : nil
        }
    }

    /// A public area in the stack's own form.
    func publicArea(_ bytes: [UInt8], _ operation: String) throws(ChipError) -> TPM2B_PUBLIC {
        let sized = [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
        var area = TPM2B_PUBLIC()
        var offset = 0
        try check(operation, library.marshaling.calls.read_public(sized, sized.count, &offset, &area))
        guard offset == sized.count else { throw .handleDamaged }
        return area
    }
}
