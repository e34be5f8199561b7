// Private keys of OpenSSL whose bytes are elsewhere: the place that has them, such as a TPM, makes each signature.
#pragma once
#include <stddef.h>

typedef enum {
    // RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2).
    LATCHKEY_RSA_PKCS1,
    // RSASSA-PSS (RFC 8017 section 8.1), with the mask generation function of the same hash.
    LATCHKEY_RSA_PSS,
    // A signature in DER (RFC 3279 section 2.2.3).
    LATCHKEY_ECDSA,
} latchkey_scheme;

// What is to be signed. Valid during the call alone.
struct latchkey_signing {
    latchkey_scheme scheme;
    // OpenSSL's number of the hash: NID_sha256, NID_sha384 or NID_sha512.
    int hash;
    // For RSASSA-PSS, in bytes.
    size_t salt;
    const unsigned char *digest;
    size_t digest_count;
};

// Signs a digest on the calling thread; several threads may call it at once.
//
// signature: has room for `capacity` bytes, as many as the largest signature of the key has.
// Returns how many bytes it wrote; 0 for a failure.
typedef size_t (*latchkey_signer)(
    void *context, const struct latchkey_signing *signing, unsigned char *signature, size_t capacity);

// A key (`EVP_PKEY *`) that signs by the signer, and else has the public half only: it cannot be exported or encoded.
// It works with contexts of OpenSSL's default library context. Signatures are handed on as the signer makes them.
//
// public_key: RSA or EC, of the default library context; stays the caller's.
// release: is called with `context` once, when the key is freed, or at once if there is none. Can be NULL.
// Returns NULL for a failure, with an error in OpenSSL's queue.
struct evp_pkey_st *latchkey_foreign_key(
    struct evp_pkey_st *public_key, latchkey_signer signer, void *context, void (*release)(void *context));
