// A signature in the making, which `signature.c` starts and ends and `parameters.c` sets up.
#pragma once
#include "provider.h"

struct foreign_signature {
    struct foreign_key *key;
    // Of RSA.
    int padding;
    // In bytes, or one of OpenSSL's negative numbers (RSA_PSS_SALTLEN_DIGEST and so on).
    int salt;
    // From the default library context; NULL before it is set.
    EVP_MD *hash;
    // What is signed, as far as it came.
    EVP_MD_CTX *hashed;
};

// Sets the hash by its name; only those of SHA-2 that TLS signs with.
int foreign_set_hash(struct foreign_signature *signature, const char *name);

// How the key's signer is asked, without the digest.
//
// Returns 0 for what the key does not do.
int foreign_describe(const struct foreign_signature *signature, struct latchkey_signing *signing);

int foreign_set_parameters(void *signature, const OSSL_PARAM parameters[]);
int foreign_get_parameters(void *signature, OSSL_PARAM parameters[]);
const OSSL_PARAM *foreign_settable(void *signature, void *context);
const OSSL_PARAM *foreign_gettable(void *signature, void *context);
