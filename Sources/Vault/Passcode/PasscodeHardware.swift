import Cryptography
import Groundwork

/// The half of a passcode's key that a chip has, so that a copy of the disk is of no use for guessing.
public struct PasscodeHardware: Sendable {
    /// Stores a new secret of 32 random bytes in the chip.
    let make: @Sendable () async throws(VaultError) -> (place: SecretBytes, secret: SecretBytes)
    /// Gives the secret that is in a place.
    let read: @Sendable (_ place: SecretBytes) async throws(VaultError) -> SecretBytes
    /// Removes it; one that is not there is no error.
    let remove: @Sendable (_ place: SecretBytes) async throws(VaultError) -> Void
}

extension PasscodeHardware {
    private static let purpose = "tpm passcode 1"
    private static let authorizationBytes = 32

    /// A secret in the memory of a TPM, which only an authorization value reads that the vault has.
    ///
    /// A kill between making one and the commit of its passcode leaves an index of 32 bytes in the TPM that nothing
    /// uses.
    public static func tpm(_ chip: Chip) -> PasscodeHardware {
        PasscodeHardware(
            make: { () async throws(VaultError) in
                try await onKeys { () throws(VaultError) in
                    let authorization = try explained { try SecretBytes.random(authorizationBytes) }
                    let (made, secret) = try ChipSecret.make(in: chip, authorization: authorization)
                    return (encoded(made, authorization), secret)
                }
            },
            read: { place async throws(VaultError) in
                try await onKeys { () throws(VaultError) in
                    guard let (secret, authorization) = decoded(place) else { throw .passcode(.tampered) }
                    return try secret.read(from: chip, authorization)
                }
            },
            remove: { place async throws(VaultError) in
                try await onKeys { () throws(VaultError) in
                    guard let (secret, _) = decoded(place) else { throw .passcode(.tampered) }
                    do throws(VaultError) {
                        try secret.remove(from: chip)
                    } catch .chip(.otherChip) {
                        // The one that had it was cleared, or is on another board.
                    }
                }
            })
    }

    private static func onKeys<Result: Sendable>(
        _ body: @Sendable () throws(VaultError) -> Result
    ) async throws(VaultError) -> Result {
        try await withTaskExecutorPreference(NamedThread.keys.tasks) { () async throws(VaultError) in try body() }
    }

    private static func encoded(_ secret: ChipSecret, _ authorization: SecretBytes) -> SecretBytes {
        var writer = FieldWriter(purpose: purpose)
        writer.append(Int64(secret.index.number))
        writer.append(secret.index.primaryName)
        authorization.withUnsafeBytes { writer.append($0) }
        return SecretBytes(writer.bytes)
    }

    private static func decoded(_ place: SecretBytes) -> (secret: ChipSecret, authorization: SecretBytes)? {
        var bytes = place.exposed()
        defer { wipe(&bytes) }
        guard var reader = FieldReader(bytes, purpose: purpose),
            let number = reader.int64().flatMap({ UInt32(exactly: $0) }), ChipIndex.numbers.contains(number),
            let name = reader.field(), var authorization = reader.field(), reader.isAtEnd
        else { return nil }
        defer { wipe(&authorization) }
        guard authorization.count == authorizationBytes else { return nil }
        return (ChipSecret(index: ChipIndex(number: number, primaryName: name)), SecretBytes(authorization))
    }
}
