// The provider itself, and how a key gets into it.

#include "provider.h"

#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <string.h>

static OSSL_LIB_CTX *library;
static int error_library;
static CRYPTO_ONCE once = CRYPTO_ONCE_STATIC_INIT;

// Every reason has a text, else OpenSSL has none either.
static ERR_STRING_DATA reasons[] = {
    {FOREIGN_SIGNER_FAILED, "the place that has the key did not sign"},
    {FOREIGN_PRIVATE_HALF_REFUSED, "the private half of the key is elsewhere"},
    {FOREIGN_UNSUPPORTED, "the key does not sign in this way"},
    {0, NULL},
};

static ERR_STRING_DATA library_name[] = {{0, "latchkey"}, {0, NULL}};

int foreign_error_library(void) { return error_library; }

static const OSSL_ALGORITHM keys[] = {
    {"RSA:rsaEncryption", "provider=latchkey", foreign_rsa_keys, "RSA keys elsewhere"},
    {"EC:id-ecPublicKey", "provider=latchkey", foreign_ec_keys, "EC keys elsewhere"},
    {NULL, NULL, NULL, NULL},
};

static const OSSL_ALGORITHM signatures[] = {
    {"RSA:rsaEncryption", "provider=latchkey", foreign_signatures, "RSA signatures made elsewhere"},
    {"ECDSA", "provider=latchkey", foreign_signatures, "ECDSA signatures made elsewhere"},
    {NULL, NULL, NULL, NULL},
};

static const OSSL_ALGORITHM *query(void *context, int operation, int *is_not_cached)
{
    (void)context;
    *is_not_cached = 0;
    switch (operation) {
    case OSSL_OP_KEYMGMT: return keys;
    case OSSL_OP_SIGNATURE: return signatures;
    default: return NULL;
    }
}

static const OSSL_DISPATCH functions[] = {
    {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query},
    {0, NULL},
};

static int start(const OSSL_CORE_HANDLE *core, const OSSL_DISPATCH *from_core, const OSSL_DISPATCH **out, void **context)
{
    (void)core, (void)from_core;
    *out = functions;
    // It has no state, but OpenSSL takes NULL for "no context" in some places.
    *context = (void *)functions;
    return 1;
}

// Lives as long as the process, as keys may until its end.
static void load(void)
{
    error_library = ERR_get_next_error_library();
    library_name[0].error = ERR_PACK(error_library, 0, 0);
    ERR_load_strings(error_library, library_name);
    ERR_load_strings(error_library, reasons);
    OSSL_LIB_CTX *made = OSSL_LIB_CTX_new();
    if (made != NULL && OSSL_PROVIDER_add_builtin(made, "latchkey", start) && OSSL_PROVIDER_load(made, "latchkey") != NULL)
        library = made;
    else
        OSSL_LIB_CTX_free(made);
}

// The key, which then owns the signer and leaves NULL in its place; NULL for a failure.
static EVP_PKEY *make(EVP_PKEY *public_key, const char *type, struct foreign_signer **signer)
{
    EVP_PKEY *key = NULL;
    OSSL_PARAM *public_half = NULL, *all = NULL;
    OSSL_PARAM own[] = {
        OSSL_PARAM_octet_string(FOREIGN_SIGNER_PARAMETER, &signer, sizeof signer),
        OSSL_PARAM_END,
    };
    EVP_PKEY_CTX *maker = EVP_PKEY_CTX_new_from_name(library, type, NULL);
    if (maker != NULL && EVP_PKEY_todata(public_key, EVP_PKEY_PUBLIC_KEY, &public_half) > 0
        && (all = OSSL_PARAM_merge(public_half, own)) != NULL && EVP_PKEY_fromdata_init(maker) > 0
        && EVP_PKEY_fromdata(maker, &key, EVP_PKEY_PUBLIC_KEY, all) <= 0) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    OSSL_PARAM_free(all);
    OSSL_PARAM_free(public_half);
    EVP_PKEY_CTX_free(maker);
    return key;
}

void foreign_signer_free(struct foreign_signer *signer)
{
    if (signer == NULL) return;
    if (signer->release != NULL) signer->release(signer->context);
    OPENSSL_free(signer);
}

EVP_PKEY *latchkey_foreign_key(
    EVP_PKEY *public_key, latchkey_signer sign, void *context, void (*release)(void *context))
{
    struct foreign_signer *signer = OPENSSL_malloc(sizeof *signer);
    if (signer == NULL) {
        if (release != NULL) release(context);
        return NULL;
    }
    *signer = (struct foreign_signer){sign, context, release};
    EVP_PKEY *key = NULL;
    if (CRYPTO_THREAD_run_once(&once, load) && library != NULL) {
        const char *type = EVP_PKEY_is_a(public_key, "RSA") ? "RSA" : EVP_PKEY_is_a(public_key, "EC") ? "EC" : NULL;
        if (type == NULL) FOREIGN_RAISE(FOREIGN_UNSUPPORTED);
        else key = make(public_key, type, &signer);
    }
    foreign_signer_free(signer);
    return key;
}
