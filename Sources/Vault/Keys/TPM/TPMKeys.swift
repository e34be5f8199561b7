import CTSS2
import Cryptography
import Groundwork

/// Private keys in a TPM 2.0: made there, under its storage root key, and used nowhere else.
///
/// The chip keeps nothing of them. The vault seals the key as the chip has encrypted it, and the authorization value
/// that the chip requires to use it. A key is not subject to the chip's lockout.
public struct TPMKeys: KeyKeeper {
    private let chip: Chip
    /// The ways of RSA that are tried.
    private let allowed: TPMKeyHandle.Ways

    public init(_ chip: Chip) { self.init(chip, allowed: .all) }

    /// - Parameter allowed: leaves out a way as if the chip had not got it.
    init(_ chip: Chip, allowed: TPMKeyHandle.Ways) {
        self.chip = chip
        self.allowed = allowed
    }

    /// Makes a key, and signs with it to see that it works.
    ///
    /// - Parameter algorithm: RSA of more bits than the chip has gets the most it has, at least 2048.
    /// - Throws: ``VaultError/chip(_:)``; ``ChipError/rsaUnsuitable`` if RSA signatures of the chip are not accepted by
    ///   TLS 1.3.
    public func make(
        _ algorithm: PrivateKey.Algorithm, name: String, of vaultID: [UInt8]
    ) throws(VaultError) -> KeptKey {
        if case .rsa(let bits) = algorithm, bits < 2048 {
            throw .cryptography(.unsuitableKey(reason: "RSA of \(bits) bits was requested"))
        }
        let authorization = try explained { try SecretBytes.random(TPMKeyHandle.authorizationBytes) }
        let (object, primaryName) = try chipped { () throws(ChipError) in
            try chip.run { connection throws(ChipError) in
                let template = try connection.template(of: algorithm)
                let session = try connection.startSaltedSession()
                let object = try connection.create(template, authorization: authorization, in: session)
                return (object, connection.primaryName)
            }
        }
        let made = TPMKeyHandle(
            object: object, primaryName: primaryName, ways: allowed, authorization: authorization)
        guard var handle = made else { throw .chip(.answerMalformed(operation: "make an object")) }
        let publicKey = try explained { try handle.publicKey.publicKey() }
        handle.ways = try testedWays(of: handle, publicKey)
        return KeptKey(publicKey: publicKey, handle: handle.encoded())
    }

    /// - Throws: ``ChipError/handleDamaged``
    public func signer(of key: KeptKey) throws(VaultError) -> any ForeignKey {
        guard let handle = TPMKeyHandle(decoding: key.handle) else { throw .chip(.handleDamaged) }
        let publicKey = try explained { try handle.publicKey.publicKey() }
        guard publicKey == key.publicKey else { throw .chip(.handleDamaged) }
        return TPMSigner(chip: chip, handle: handle)
    }

    /// Does nothing: the chip has nothing of the key.
    public func destroy(_ key: KeptKey, of vaultID: [UInt8]) throws(VaultError) {}

    /// None, because the chip has nothing of any key.
    public func orphans(of vaultID: [UInt8], known: [KeptKey]) throws(VaultError) -> [KeptKey] { [] }

    /// Signs in each way, and keeps those whose signature is valid.
    private func testedWays(
        of handle: TPMKeyHandle, _ publicKey: PublicKey
    ) throws(VaultError) -> TPMKeyHandle.Ways {
        let digest = SHA256.hash("latchkey self-test".utf8)
        guard handle.publicKey.isRSA else {
            guard try isValid(UnsignedDigest(digest, by: .sha256, .ecdsa), handle, publicKey) else {
                throw .chip(.answerMalformed(operation: "sign"))
            }
            return []
        }
        var found: TPMKeyHandle.Ways = []
        let salted = UnsignedDigest(digest, by: .sha256, .pss(saltBytes: SHA256.byteCount))
        for way in [TPMKeyHandle.Ways.chip, .block] where allowed.contains(way) {
            var handle = handle
            handle.ways = way
            if try isValid(salted, handle, publicKey) { found.insert(way) }
        }
        guard !found.isEmpty else { throw .chip(.rsaUnsuitable) }
        return found
    }

    /// Whether a key gives a signature, and it is valid.
    private func isValid(
        _ digest: UnsignedDigest, _ handle: TPMKeyHandle, _ publicKey: PublicKey
    ) throws(VaultError) -> Bool {
        do {
            return publicKey.verifies(try TPMSigner(chip: chip, handle: handle).sign(digest), of: digest)
        } catch ChipError.refused {
            return false
        } catch let error as ChipError {
            throw .chip(error)
        } catch {
            return try explained { throw error }
        }
    }
}

extension ChipConnection {
    /// The template for an algorithm, of RSA with as many bits as the chip has.
    fileprivate func template(of algorithm: PrivateKey.Algorithm) throws(ChipError) -> ChipTemplate {
        guard case .rsa(let wanted) = algorithm else { return .p256 }
        // 4096 is the most that TPM 2.0 and the software stack have room for.
        let sizes = [wanted, 4096, 3072, 2048].filter { $0 <= min(wanted, 4096) && $0 % 8 == 0 }
        var refusal = ChipError.rsaUnsuitable
        for bits in sizes.map(UInt16.init) {
            let code = try supports(ChipTemplate.rsaParameters(bits: bits))
            guard let code else { return .rsa(bits: bits) }
            refusal = code
        }
        throw refusal
    }

    /// `nil` if the chip makes keys with these parameters (`TPMT_PUBLIC_PARMS`), else how it refused.
    private func supports(_ parameters: [UInt8]) throws(ChipError) -> ChipError? {
        let operation = "make a key of this size"
        var form = TPMT_PUBLIC_PARMS()
        var offset = 0
        try check(
            operation, library.marshaling.calls.read_parameters(parameters, parameters.count, &offset, &form))
        do throws(ChipError) {
            try check(operation, esys.test_parameters(context, Self.none, Self.none, Self.none, &form))
            return nil
        } catch {
            guard case .refused = error else { throw error }
            return error
        }
    }
}
