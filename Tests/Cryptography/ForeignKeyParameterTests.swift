import COpenSSL
import TestSupport
import Testing

@testable import Cryptography

/// What libraries say to OpenSSL about a signature, as numbers and by name.
@Suite("The parameters of a foreign key's signature")
struct ForeignKeyParameterTests {
    private let software: SoftwareKey
    private let key: PrivateKey

    init() throws {
        let real = try PrivateKey(generating: .rsa(bits: 2048))
        software = try SoftwareKey(real)
        key = try PrivateKey(foreign: software, publicKey: real.publicKey)
    }

    /// Signs 32 bytes as a digest.
    ///
    /// - Parameter prepare: returns whether everything was accepted.
    /// - Returns: how it was asked for; `nil` if it was refused.
    private func scheme(_ prepare: (OpaquePointer) -> Bool) throws -> UnsignedDigest.Scheme? {
        let context = try #require(EVP_PKEY_CTX_new_from_pkey(nil, key.handle, nil))
        defer {
            EVP_PKEY_CTX_free(context)
            ERR_clear_error()
        }
        try #require(EVP_PKEY_sign_init(context) == 1)
        guard prepare(context) else { return nil }
        var signature = [UInt8](repeating: 0, count: 256)
        var count = signature.count
        guard EVP_PKEY_sign(context, &signature, &count, [UInt8](repeating: 7, count: 32), 32) == 1 else { return nil }
        return software.asked.last?.scheme
    }

    private func setSHA256(_ context: OpaquePointer) -> Bool {
        EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()) == 1
    }

    @Test(
        "the parameters of a foreign key's signature take a salt by name, and as text with a number",
        arguments: [
            ("digest", 32), ("32", 32), ("max", 222), ("0", 0), ("223", nil), ("-1", nil), ("x", nil), ("", nil),
        ])
    func saltsByName(text: String, bytes: Int?) throws {
        let scheme = try scheme {
            setSHA256($0) && EVP_PKEY_CTX_ctrl_str($0, "rsa_padding_mode", "pss") == 1
                && EVP_PKEY_CTX_ctrl_str($0, "rsa_pss_saltlen", text) == 1
        }
        #expect(scheme == bytes.map { .pss(saltBytes: $0) })
    }

    /// The parameters have the names by address.
    private static func set(_ padding: inout Int32, _ salt: inout Int32, in context: OpaquePointer) -> Bool {
        OSSL_SIGNATURE_PARAM_PAD_MODE.withCString { paddingName in
            OSSL_SIGNATURE_PARAM_PSS_SALTLEN.withCString { saltName in
                withUnsafeMutablePointer(to: &padding) { padding in
                    withUnsafeMutablePointer(to: &salt) { salt in
                        let parameters = [
                            OSSL_PARAM_construct_int(paddingName, padding), OSSL_PARAM_construct_int(saltName, salt),
                            OSSL_PARAM_construct_end(),
                        ]
                        return EVP_PKEY_CTX_set_params(context, parameters) == 1
                    }
                }
            }
        }
    }

    @Test(
        "the parameters of a foreign key's signature take padding and salt as numbers",
        arguments: [
            (RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_DIGEST, UnsignedDigest.Scheme.pss(saltBytes: 32)),
            (RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_MAX, .pss(saltBytes: 222)),
            (RSA_PKCS1_PSS_PADDING, 20, .pss(saltBytes: 20)), (RSA_PKCS1_PADDING, 20, .pkcs1),
            (RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_AUTO, nil), (RSA_NO_PADDING, 20, nil),
        ])
    func numbers(padding: Int32, salt: Int32, expected: UnsignedDigest.Scheme?) throws {
        var (padding, salt) = (padding, salt)
        let scheme = try scheme { setSHA256($0) && Self.set(&padding, &salt, in: $0) }
        #expect(scheme == expected)
    }

    @Test("the parameters of a foreign key's signature have a salt as long as the hash, unless they say otherwise")
    func usual() throws {
        #expect(try scheme(setSHA256) == .pkcs1)
        #expect(
            try scheme { setSHA256($0) && EVP_PKEY_CTX_set_rsa_padding($0, RSA_PKCS1_PSS_PADDING) == 1 }
                == .pss(saltBytes: 32))
    }

    @Test("the parameters of a foreign key's signature need a hash of SHA-2, for the mask too")
    func hashes() throws {
        #expect(try scheme { _ in true } == nil)
        #expect(try scheme { EVP_PKEY_CTX_set_signature_md($0, EVP_sha1()) == 1 } == nil)
        #expect(try scheme { EVP_PKEY_CTX_set_signature_md($0, EVP_sha3_256()) == 1 } == nil)
        // 32 bytes are no digest of this one.
        #expect(try scheme { EVP_PKEY_CTX_set_signature_md($0, EVP_sha512()) == 1 } == nil)
        for (mask, isTaken) in [(EVP_sha256(), true), (EVP_sha512(), false)] {
            let scheme = try scheme {
                setSHA256($0) && EVP_PKEY_CTX_set_rsa_padding($0, RSA_PKCS1_PSS_PADDING) == 1
                    && EVP_PKEY_CTX_set_rsa_mgf1_md($0, mask) == 1
            }
            #expect((scheme != nil) == isTaken)
        }
    }

    @Test("the parameters of a foreign key's signature survive a copy halfway through the message")
    func copies() throws {
        let (one, two) = (try #require(EVP_MD_CTX_new()), try #require(EVP_MD_CTX_new()))
        defer {
            EVP_MD_CTX_free(one)
            EVP_MD_CTX_free(two)
        }
        var parameters: OpaquePointer?
        try #require(EVP_DigestSignInit_ex(one, &parameters, "SHA384", nil, nil, key.handle, nil) == 1)
        try #require(EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1)
        try #require(EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, 17) == 1)
        try #require(EVP_DigestUpdate(one, "ab", 2) == 1)
        try #require(EVP_MD_CTX_copy_ex(two, one) == 1)
        for (context, rest) in [(one, "c"), (two, "d")] {
            try #require(EVP_DigestUpdate(context, rest, 1) == 1)
            var signature = [UInt8](repeating: 0, count: 256)
            var count = 0
            // The length is asked for first, which ends nothing.
            try #require(EVP_DigestSignFinal(context, nil, &count) == 1)
            #expect(EVP_DigestSignFinal(context, &signature, &count) == 1)
            let digest = UnsignedDigest(Digest.sha384.hash("ab\(rest)".utf8), by: .sha384, .pss(saltBytes: 17))
            #expect(software.asked.last == digest)
            #expect(key.publicKey.verifies(signature, of: digest))
        }
    }
}
