import CTSS2
import Cryptography
import Groundwork

/// A piece of a TPM's own memory (NV index) without a copy elsewhere: gone for good when it is removed, or the
/// TPM is cleared.
struct ChipIndex: Equatable, Sendable {
    /// Those of this program, in the range that the TCG leaves to owners.
    static let numbers: ClosedRange<UInt32> = 0x0181_0000...0x0181_FFFF

    let number: UInt32
    /// Of the primary key, which tells the TPM from others.
    let primaryName: [UInt8]

    /// What is done with an index in a session that proves its authorization value.
    typealias Operation<Result> = (
        ChipConnection, _ index: ChipConnection.Handle, _ session: ChipConnection.Handle
    ) throws(ChipError) -> Result

    /// What is stored under an index (TPM 2.0 part 2 section 13.4). Read and written with its authorization value,
    /// which does not count towards a lockout.
    enum Content {
        case counter
        case secret

        var bytes: Int {
            switch self {
            case .counter: 8
            case .secret: 32
            }
        }

        var attributes: UInt32 {
            let all = UInt32(TPMA_NV_AUTHREAD) | UInt32(TPMA_NV_AUTHWRITE) | UInt32(TPMA_NV_NO_DA)
            let type = UInt32(self == .counter ? TPM2_NT_COUNTER : TPM2_NT_ORDINARY)
            return all | type << UInt32(TPMA_NV_TPM2_NT_SHIFT)
        }
    }

    /// Makes an index with a number that is drawn, and gives it its first content.
    ///
    /// - Throws: ``VaultError/chip(_:)``
    static func make(
        _ content: Content, in chip: Chip, authorization: SecretBytes, filling: Operation<Void>
    ) throws(VaultError) -> ChipIndex {
        let index = try made(content, in: chip, authorization: authorization)
        do throws(VaultError) {
            try index.run(on: chip, authorization, filling)
        } catch {
            // It would stay there unused. Where it cannot be removed either, the first error says why.
            try? index.remove(from: chip)
            throw error
        }
        return index
    }

    private static func made(
        _ content: Content, in chip: Chip, authorization: SecretBytes
    ) throws(VaultError) -> ChipIndex {
        var tries = 8
        while true {
            let drawn = try explained { try Random.bytes(2) }
            let number = numbers.lowerBound + UInt32(drawn[0]) << 8 + UInt32(drawn[1])
            do throws(ChipError) {
                return try chip.run { connection throws(ChipError) in
                    try connection.define(content, number: number, authorization: authorization)
                    return ChipIndex(number: number, primaryName: connection.primaryName)
                }
            } catch {
                // Another program has that number.
                tries -= 1
                guard error == .indexTaken(number: number), tries > 0 else { throw .chip(error) }
            }
        }
    }

    /// Removes it from the chip; one that is not there is no error.
    func remove(from chip: Chip) throws(VaultError) {
        try chipped { () throws(ChipError) in
            do throws(ChipError) {
                try chip.run(named: primaryName) { connection throws(ChipError) in
                    try connection.undefine(number)
                }
            } catch .indexMissing {}
        }
    }

    /// Runs an operation with the index, and a salted session that proves its authorization value.
    func run<Result: Sendable>(
        on chip: Chip, _ authorization: SecretBytes, _ body: Operation<Result>
    ) throws(VaultError) -> Result {
        try chipped { () throws(ChipError) in
            try chip.run(named: primaryName) { connection throws(ChipError) in
                let index = try connection.index(number)
                try connection.authorize(index, authorization)
                return try body(connection, index, try connection.startSaltedSession())
            }
        }
    }
}

extension ChipConnection {
    func define(
        _ content: ChipIndex.Content, number: UInt32, authorization: SecretBytes
    ) throws(ChipError) {
        var value = try sized(authorization)
        defer { wipe(structure: &value) }
        var area = TPM2B_NV_PUBLIC()
        area.nvPublic.nvIndex = number
        area.nvPublic.nameAlg = UInt16(TPM2_ALG_SHA256)
        area.nvPublic.attributes = content.attributes
        area.nvPublic.dataSize = UInt16(content.bytes)
        let session = try startSaltedSession()
        try encrypt(session, command: true, answer: false)
        var index = Self.none
        let code = ChipCode(
            raw: esys.nv_define(
                context, Handle(ESYS_TR_RH_OWNER), session, Self.none, Self.none, &value, &area, &index))
        if code.isIndexTaken { throw .indexTaken(number: number) }
        try check("make an NV index", code.raw)
    }

    fileprivate func undefine(_ number: UInt32) throws(ChipError) {
        let index = try index(number)
        let session = try startSaltedSession()
        try encrypt(session, command: false, answer: false)
        try check(
            "remove an NV index",
            esys.nv_undefine(context, Handle(ESYS_TR_RH_OWNER), index, session, Self.none, Self.none))
    }

    /// - Throws: ``ChipError/indexMissing(number:)``
    func index(_ number: UInt32) throws(ChipError) -> Handle {
        var index = Self.none
        let code = ChipCode(
            raw: esys.from_handle(context, number, Self.none, Self.none, Self.none, &index))
        if code.isHandleUnknown { throw .indexMissing(number: number) }
        try check("find an NV index", code.raw)
        return index
    }

    func increment(_ index: Handle, in session: Handle) throws(ChipError) {
        try encrypt(session, command: false, answer: false)
        try check(
            "count", esys.nv_increment(context, index, index, session, Self.none, Self.none))
    }

    func write(_ secret: SecretBytes, to index: Handle, in session: Handle) throws(ChipError) {
        let operation = "write to an NV index"
        guard var content = TPM2B_MAX_NV_BUFFER(secret) else { throw .answerMalformed(operation: operation) }
        defer { wipe(structure: &content) }
        try encrypt(session, command: true, answer: false)
        try check(
            operation, esys.nv_write(context, index, index, session, Self.none, Self.none, &content, 0))
    }

    /// The whole content of an index.
    func read(_ content: ChipIndex.Content, of index: Handle, in session: Handle) throws(ChipError) -> SecretBytes {
        let operation = "read an NV index"
        try encrypt(session, command: false, answer: true)
        var output: UnsafeMutablePointer<TPM2B_MAX_NV_BUFFER>?
        try check(
            operation,
            esys.nv_read(
                context, index, index, session, Self.none, Self.none, UInt16(content.bytes), 0, &output))
        let secret = try takeSecret(operation, output)
        guard secret.count == content.bytes else { throw .answerMalformed(operation: operation) }
        return secret
    }
}
