import Groundwork

/// Why a TPM 2.0 did not do what it was asked. Nothing was changed in the vault.
public enum ChipError: Explained, Equatable {
    /// A library of the TPM2 Software Stack, or a function of it, is not installed.
    case libraryMissing(name: String)
    /// There is no TPM at `place`, the text of its connection (TCTI).
    case absent(place: String)
    case notPermitted(place: String)
    /// The connection ended during `operation`.
    case gone(operation: String)
    /// The TPM did something else for longer than this program waits, such as a self-test.
    case busy(operation: String)
    /// Too many wrong authorization values were used on this TPM, by whatever program.
    case lockedOut
    /// The TPM was exchanged or cleared since the object was made, or its owner's seed changed.
    case otherChip
    /// The platform configuration registers that the object is bound to have other values.
    case registersChanged
    /// The TPM has no registers in the SHA-256 bank.
    case registersUnavailable
    /// The owner's authorization value is wrong, or was not given.
    case ownerUnauthorized
    /// Neither of the ways in which a TPM signs with RSA gave a valid RSASSA-PSS signature.
    case rsaUnsuitable
    /// The key makes no such signature.
    case signatureUnsupported
    /// The TPM has nothing under this number of its memory (NV index): it was removed.
    case indexMissing(number: UInt32)
    /// Another program has something under this number.
    case indexTaken(number: UInt32)
    /// What the vault has kept of an object of the TPM is damaged.
    case handleDamaged
    /// The answer to `operation` has a wrong size or form.
    case answerMalformed(operation: String)
    /// `code` is that of TPM 2.0 part 2 section 6.6, or of the software stack.
    case refused(operation: String, code: UInt32)

    /// Whether the same operation may succeed later without a change to this board.
    public var isTemporary: Bool {
        switch self {
        case .absent, .gone, .busy, .lockedOut: true
        default: false
        }
    }
}

extension ChipError {
    public var explanation: Explanation {
        switch self {
        case .libraryMissing(let name):
            Explanation(
                "tpm.library-missing", .unavailable, "\(name) of the TPM2 Software Stack is not installed",
                remedy: "install it: on Debian 12 libtss2-esys-3.0.2-0, libtss2-tctildr0 and libtss2-tcti-device0, on "
                    + "Debian 13 the same with t64 after each name")
        case .absent(let place):
            Explanation(
                "tpm.absent", .temporary, "there is no TPM at \(place)",
                remedy: "check that the board has a TPM 2.0, and that the kernel has found it: ls /dev/tpmrm0")
        case .notPermitted(let place):
            Explanation(
                "tpm.not-permitted", .configuration, "the agent's user may not use the TPM at \(place)",
                remedy: "let its service use the device and the group tss: DeviceAllow=/dev/tpmrm0 rw and "
                    + "SupplementaryGroups=tss")
        case .gone(let operation):
            Explanation("tpm.gone", .temporary, "the connection to the TPM ended: cannot \(operation)")
        case .busy(let operation):
            Explanation("tpm.busy", .temporary, "the TPM is busy: cannot \(operation)", remedy: "try again later")
        case .lockedOut:
            Explanation(
                "tpm.locked-out", .temporary,
                "the TPM is locked because too many wrong authorization values were used on it",
                remedy: "wait until it unlocks itself, or run: tpm2_dictionarylockout --clear-lockout")
        case .otherChip:
            Explanation(
                "tpm.other-chip", .configuration,
                "the object was made in another TPM, or this TPM was cleared since then",
                remedy: "put the object's TPM back; if it was cleared, open the vault by another slot and renew the "
                    + "slots and keys of the TPM")
        case .registersChanged:
            Explanation(
                "tpm.registers-changed", .configuration,
                "the TPM's PCRs have other values than those the slot is bound to",
                remedy: "start the board as it was when the slot was made, or open the vault by another slot and renew "
                    + "this one")
        case .registersUnavailable:
            Explanation(
                "tpm.registers-unavailable", .configuration, "the TPM has no SHA-256 PCRs to bind a slot to",
                remedy: "turn on the SHA-256 bank in the firmware, or bind the slot to no PCRs")
        case .ownerUnauthorized:
            Explanation(
                "tpm.owner-unauthorized", .configuration, "the TPM's owner authorization value is wrong or missing",
                remedy: "give the value that the TPM's owner has set")
        case .rsaUnsuitable:
            Explanation(
                "tpm.rsa-unsuitable", .configuration,
                "the TPM makes no RSA signatures that TLS 1.3 accepts", remedy: "use a P-256 key: p256")
        case .signatureUnsupported:
            Explanation(
                "tpm.signature-unsupported", .unavailable, "the key in the TPM cannot make such a signature",
                remedy: "use a P-256 key: p256")
        case .indexMissing(let number):
            Explanation(
                "tpm.index-missing", .configuration,
                "the TPM has no NV index 0x\(String(number, radix: 16, uppercase: true)) any more",
                remedy: "find out who removed it; what was encrypted with it is lost")
        case .indexTaken(let number):
            Explanation(
                "tpm.index-taken", .conflict,
                "the TPM's NV index 0x\(String(number, radix: 16, uppercase: true)) is used by another program",
                remedy: "try again: another one is drawn")
        case .handleDamaged:
            Explanation(
                "tpm.handle-damaged", .damaged, "what the vault has kept of a key in the TPM is damaged",
                remedy: "restore a copy of the vault, or reset the registration that the key belongs to")
        case .answerMalformed(let operation):
            Explanation(
                "tpm.answer-malformed", .invalidAnswer, "the TPM gave a malformed answer: cannot \(operation)",
                remedy: "restart the board; if it happens again, the TPM is broken, or a device interferes with it")
        case .refused(let operation, let code):
            Explanation(
                "tpm.refused", .unavailable,
                "the TPM refused: cannot \(operation) (code 0x\(String(code, radix: 16, uppercase: true)))",
                remedy: "look the code up with: tpm2_rc_decode")
        }
    }

    public static let examples: [ChipError] = [
        .libraryMissing(name: "LIBRARY"), .absent(place: "TCTI"), .notPermitted(place: "TCTI"),
        .gone(operation: "OPERATION"), .busy(operation: "OPERATION"), .lockedOut, .otherChip, .registersChanged,
        .registersUnavailable, .ownerUnauthorized, .rsaUnsuitable, .signatureUnsupported,
        .indexMissing(number: 0x0181_0000), .indexTaken(number: 0x0181_0000), .handleDamaged,
        .answerMalformed(operation: "OPERATION"), .refused(operation: "OPERATION", code: 0x101),
    ]
}
