// Keys (provider-keymgmt(7)). The public half is an ordinary key of the default library context, which answers all that
// is asked of it; there is no private half.

#include "provider.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <string.h>

static struct foreign_key *new_key(const char *type)
{
    struct foreign_key *key = OPENSSL_zalloc(sizeof *key);
    if (key == NULL) return NULL;
    atomic_init(&key->references, 1);
    key->type = type;
    return key;
}

static void *new_rsa_key(void *context) { return (void)context, new_key("RSA"); }
static void *new_ec_key(void *context) { return (void)context, new_key("EC"); }

struct foreign_key *foreign_key_retain(struct foreign_key *key)
{
    atomic_fetch_add(&key->references, 1);
    return key;
}

void foreign_key_release(struct foreign_key *key)
{
    if (key == NULL || atomic_fetch_sub(&key->references, 1) != 1) return;
    EVP_PKEY_free(key->public_key);
    foreign_signer_free(key->signer);
    OPENSSL_free(key);
}

static void free_key(void *key) { foreign_key_release(key); }

static int has(const void *data, int selection)
{
    const struct foreign_key *key = data;
    if (key == NULL) return 0;
    // Signing is what the private half is asked for.
    if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0 && key->signer == NULL) return 0;
    return (selection & ~OSSL_KEYMGMT_SELECT_PRIVATE_KEY) == 0 || key->public_key != NULL;
}

static int match(const void *first, const void *second, int selection)
{
    const struct foreign_key *left = first, *right = second;
    if (left->public_key == NULL || right->public_key == NULL) return 0;
    if ((selection & OSSL_KEYMGMT_SELECT_KEYPAIR) != 0) return EVP_PKEY_eq(left->public_key, right->public_key) == 1;
    return EVP_PKEY_parameters_eq(left->public_key, right->public_key) == 1;
}

static int is_refused(int selection)
{
    if ((selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) == 0) return 0;
    FOREIGN_RAISE(FOREIGN_PRIVATE_HALF_REFUSED);
    return 1;
}

static int import(void *data, int selection, const OSSL_PARAM parameters[])
{
    struct foreign_key *key = data;
    if (key->public_key != NULL || is_refused(selection)) return 0;
    EVP_PKEY_CTX *maker = EVP_PKEY_CTX_new_from_name(NULL, key->type, NULL);
    // OpenSSL does not change them, although it does not say so.
    int is_made = maker != NULL && EVP_PKEY_fromdata_init(maker) > 0
        && EVP_PKEY_fromdata(maker, &key->public_key, selection, (OSSL_PARAM *)parameters) > 0;
    EVP_PKEY_CTX_free(maker);
    if (!is_made) return 0;
    const OSSL_PARAM *named = OSSL_PARAM_locate_const(parameters, FOREIGN_SIGNER_PARAMETER);
    if (named != NULL && named->data_size == sizeof(struct foreign_signer **)) {
        struct foreign_signer **signer;
        memcpy(&signer, named->data, sizeof signer);
        key->signer = *signer;
        *signer = NULL;
    }
    return 1;
}

static int export(void *data, int selection, OSSL_CALLBACK *receive, void *argument)
{
    const struct foreign_key *key = data;
    if (key->public_key == NULL || is_refused(selection)) return 0;
    return EVP_PKEY_export(key->public_key, selection, receive, argument);
}

// For EVP_PKEY_fromdata_settable(3) and the like; nothing here calls them.
static const OSSL_PARAM *transferable(int selection)
{
    static const OSSL_PARAM parameters[] = {
        OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_N, NULL, 0),
        OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_E, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, NULL, 0),
        OSSL_PARAM_END,
    };
    return (selection & OSSL_KEYMGMT_SELECT_PRIVATE_KEY) != 0 ? NULL : parameters;
}

static int get(void *data, OSSL_PARAM parameters[])
{
    const struct foreign_key *key = data;
    return key->public_key != NULL && EVP_PKEY_get_params(key->public_key, parameters);
}

static const OSSL_PARAM *gettable(void *context)
{
    static const OSSL_PARAM parameters[] = {
        OSSL_PARAM_int(OSSL_PKEY_PARAM_BITS, NULL),
        OSSL_PARAM_int(OSSL_PKEY_PARAM_SECURITY_BITS, NULL),
        OSSL_PARAM_int(OSSL_PKEY_PARAM_MAX_SIZE, NULL),
        OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_DEFAULT_DIGEST, NULL, 0),
        OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_N, NULL, 0),
        OSSL_PARAM_BN(OSSL_PKEY_PARAM_RSA_E, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, NULL, 0),
        OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, NULL, 0),
        OSSL_PARAM_END,
    };
    return (void)context, parameters;
}

static const char *rsa_operation(int operation) { return (void)operation, "RSA"; }
static const char *ec_operation(int operation) { return operation == OSSL_OP_SIGNATURE ? "ECDSA" : "EC"; }

#define KEYS(new, operation) \
    { \
        {OSSL_FUNC_KEYMGMT_NEW, (void (*)(void))new}, \
        {OSSL_FUNC_KEYMGMT_FREE, (void (*)(void))free_key}, \
        {OSSL_FUNC_KEYMGMT_HAS, (void (*)(void))has}, \
        {OSSL_FUNC_KEYMGMT_MATCH, (void (*)(void))match}, \
        {OSSL_FUNC_KEYMGMT_IMPORT, (void (*)(void))import}, \
        {OSSL_FUNC_KEYMGMT_IMPORT_TYPES, (void (*)(void))transferable}, \
        {OSSL_FUNC_KEYMGMT_EXPORT, (void (*)(void))export}, \
        {OSSL_FUNC_KEYMGMT_EXPORT_TYPES, (void (*)(void))transferable}, \
        {OSSL_FUNC_KEYMGMT_GET_PARAMS, (void (*)(void))get}, \
        {OSSL_FUNC_KEYMGMT_GETTABLE_PARAMS, (void (*)(void))gettable}, \
        {OSSL_FUNC_KEYMGMT_QUERY_OPERATION_NAME, (void (*)(void))operation}, \
        {0, NULL}, \
    }

const OSSL_DISPATCH foreign_rsa_keys[] = KEYS(new_rsa_key, rsa_operation);
const OSSL_DISPATCH foreign_ec_keys[] = KEYS(new_ec_key, ec_operation);
