// What the files of the provider share.
#pragma once
#include "CKeyProvider.h"

#include <openssl/core_dispatch.h>
#include <openssl/evp.h>
#include <stdatomic.h>
#include <stdbool.h>

// What an `EVP_PKEY` of this provider holds.
struct foreign_key {
    atomic_int references;
    // "RSA" or "EC".
    const char *type;
    // The public half, in the default library context; NULL before anything was imported.
    EVP_PKEY *public_key;
    // NULL for a key that only has the public half.
    struct foreign_signer *signer;
};

struct foreign_signer {
    latchkey_signer sign;
    void *context;
    void (*release)(void *context);
};

// Reasons of errors in OpenSSL's queue.
enum {
    FOREIGN_SIGNER_FAILED = 1,
    FOREIGN_PRIVATE_HALF_REFUSED,
    FOREIGN_UNSUPPORTED,
};

// Of this provider's errors.
int foreign_error_library(void);
#define FOREIGN_RAISE(reason) ERR_raise(foreign_error_library(), reason)

void foreign_signer_free(struct foreign_signer *signer);

// The parameter of an import that holds a `struct foreign_signer **`: the key takes the signer, and leaves NULL there.
#define FOREIGN_SIGNER_PARAMETER "latchkey-signer"

// The same key, with one reference more.
struct foreign_key *foreign_key_retain(struct foreign_key *key);
void foreign_key_release(struct foreign_key *key);

extern const OSSL_DISPATCH foreign_rsa_keys[], foreign_ec_keys[], foreign_signatures[];
