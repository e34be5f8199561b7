import COpenSSL

/// A library context of OpenSSL with its legacy provider, which has DES. Made for one call, so that no other can use
/// what is weak.
struct LegacyContext: ~Copyable {
    let handle: OpaquePointer
    private let provider: OpaquePointer

    /// - Parameter folder: where the provider is looked for; by default where OpenSSL has its own.
    /// - Throws: ``FormatError/legacyMissing``
    init(searching folder: String? = nil) throws(FormatError) {
        // As where Swift itself has no memory: nothing could go on.
        guard let handle = OSSL_LIB_CTX_new() else { fatalError("no memory for a library context") }
        if let folder { OSSL_PROVIDER_set_default_search_path(handle, folder) }
        guard let provider = OSSL_PROVIDER_load(handle, "legacy") else {
            ERR_clear_error()
            OSSL_LIB_CTX_free(handle)
            throw .legacyMissing
        }
        (self.handle, self.provider) = (handle, provider)
    }

    deinit {
        OSSL_PROVIDER_unload(provider)
        OSSL_LIB_CTX_free(handle)
    }
}
