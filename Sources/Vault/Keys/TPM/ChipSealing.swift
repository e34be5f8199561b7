import CTSS2
import Cryptography
import Groundwork

/// Making and loading objects, and secrets of ours in them.
extension ChipConnection {
    /// Makes an object under the primary key.
    ///
    /// - Parameters:
    ///   - authorization: that the object requires.
    ///   - content: a secret to seal; `nil` for a key.
    func create(
        _ template: ChipTemplate, authorization: SecretBytes? = nil, content: SecretBytes? = nil, in session: Handle
    ) throws(ChipError) -> ChipObject {
        let operation = "make an object"
        var sensitive = TPM2B_SENSITIVE_CREATE()
        defer { wipe(structure: &sensitive) }
        if let authorization { sensitive.sensitive.userAuth = try sized(authorization) }
        if let content {
            guard let value = TPM2B_SENSITIVE_DATA(content) else { throw .answerMalformed(operation: operation) }
            sensitive.sensitive.data = value
        }
        var area = try publicArea(template.bytes, operation)
        var (data, registers) = (TPM2B_DATA(), TPML_PCR_SELECTION())
        var privateOutput: UnsafeMutablePointer<TPM2B_PRIVATE>?
        var publicOutput: UnsafeMutablePointer<TPM2B_PUBLIC>?
        try encrypt(session, command: true, answer: true)
        try check(
            operation,
            esys.create(
                context, primary, session, Self.none, Self.none, &sensitive, &area, &data, &registers, &privateOutput,
                &publicOutput, nil, nil, nil))
        let privateArea = try take(operation, privateOutput) { area in area.withBytes { Array($0) } }
        let publicArea = try take(operation, publicOutput, encoded)
        guard publicArea.starts(with: template.head), publicArea.count <= ChipObject.areaLimit,
            (1...ChipObject.areaLimit).contains(privateArea.count)
        else { throw .answerMalformed(operation: operation) }
        return ChipObject(publicArea: publicArea, privateArea: privateArea)
    }

    /// `nil` if the stack cannot write it.
    private func encoded(_ area: inout TPM2B_PUBLIC) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: MemoryLayout<TPM2B_PUBLIC>.size)
        var count = 0
        guard library.marshaling.calls.write_public(&area, &bytes, bytes.count, &count) == 0, count >= 2 else {
            return nil
        }
        return Array(bytes[2..<count])
    }

    /// - Throws: ``ChipError/otherChip`` also for an object that was changed.
    func load(_ object: ChipObject, in session: Handle) throws(ChipError) -> Handle {
        let operation = "load an object"
        guard var privateArea = TPM2B_PRIVATE(object.privateArea) else { throw .handleDamaged }
        var publicArea = try publicArea(object.publicArea, operation)
        try encrypt(session, command: true, answer: true)
        return try load(operation) { handle in
            esys.load(context, primary, session, Self.none, Self.none, &privateArea, &publicArea, &handle)
        }
    }

    /// - Parameter registers: which the object is bound to.
    func unseal(_ object: ChipObject, registers: ChipRegisters) throws(ChipError) -> SecretBytes {
        let operation = "unseal a secret"
        var session = try startSaltedSession()
        let handle = try load(object, in: session)
        if !registers.isEmpty {
            session = try startSaltedSession(UInt8(TPM2_SE_POLICY))
            try bind(session, to: registers)
        }
        try encrypt(session, command: false, answer: true)
        var output: UnsafeMutablePointer<TPM2B_SENSITIVE_DATA>?
        try check(operation, esys.unseal(context, handle, session, Self.none, Self.none, &output))
        return try takeSecret(operation, output)
    }

    /// The policy that an object has which is bound to the present values of registers; empty for none.
    func policy(of registers: ChipRegisters) throws(ChipError) -> [UInt8] {
        guard !registers.isEmpty else { return [] }
        let operation = "make a policy"
        try checkBank(of: registers)
        let trial = try startSaltedSession(UInt8(TPM2_SE_TRIAL))
        try bind(trial, to: registers)
        var digest: UnsafeMutablePointer<TPM2B_DIGEST>?
        try check(operation, esys.policy_digest(context, trial, Self.none, Self.none, Self.none, &digest))
        let policy = try take(operation, digest) { digest in digest.withBytes { Array($0) } }
        try flush(trial)
        guard policy.count == ChipTemplate.digestBytes else { throw .answerMalformed(operation: operation) }
        return policy
    }

    private func bind(_ session: Handle, to registers: ChipRegisters) throws(ChipError) {
        var selection = registers.selection
        // Without a digest: of the present values.
        var digest = TPM2B_DIGEST()
        try check(
            "read the PCRs",
            esys.policy_pcr(context, session, Self.none, Self.none, Self.none, &digest, &selection))
    }

    /// A policy of registers that the chip does not have would bind to nothing, and is made without an error.
    private func checkBank(of registers: ChipRegisters) throws(ChipError) {
        let operation = "read the PCRs"
        var selection = registers.selection
        var found: UnsafeMutablePointer<TPML_PCR_SELECTION>?
        var values: UnsafeMutablePointer<TPML_DIGEST>?
        try check(
            operation,
            esys.pcr_read(context, Self.none, Self.none, Self.none, &selection, nil, &found, &values))
        let count = try take(operation, values) { $0.count }
        let isThere = try take(operation, found) { found in
            found.count == 1 && withUnsafeBytes(of: found.pcrSelections.0.pcrSelect) { !$0.allSatisfy { $0 == 0 } }
        }
        guard isThere, count > 0 else { throw .registersUnavailable }
    }
}
