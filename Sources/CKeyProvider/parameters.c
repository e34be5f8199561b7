// How a signature is to be made: hash, padding and salt, each as a number or by its name, as libssl has both.

#include "signature.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/params.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

static int refuse(void)
{
    FOREIGN_RAISE(FOREIGN_UNSUPPORTED);
    return 0;
}

static bool is_rsa(const struct foreign_signature *signature) { return strcmp(signature->key->type, "RSA") == 0; }

int foreign_set_hash(struct foreign_signature *signature, const char *name)
{
    EVP_MD *hash = EVP_MD_fetch(NULL, name, NULL);
    if (hash == NULL) return 0;
    switch (EVP_MD_get_type(hash)) {
    case NID_sha256:
    case NID_sha384:
    case NID_sha512:
        EVP_MD_free(signature->hash);
        signature->hash = hash;
        return 1;
    default: EVP_MD_free(hash); return refuse();
    }
}

// A parameter that is a number, or a text with a number or one of the names.
struct named_number {
    const char *name;
    int number;
};

static int get_number(const OSSL_PARAM *parameter, const struct named_number names[], int *number)
{
    const char *text;
    if (parameter->data_type != OSSL_PARAM_UTF8_STRING) return OSSL_PARAM_get_int(parameter, number);
    if (!OSSL_PARAM_get_utf8_string_ptr(parameter, &text) || text == NULL) return 0;
    for (; names->name != NULL; ++names) {
        if (strcmp(text, names->name) != 0) continue;
        *number = names->number;
        return 1;
    }
    char *end;
    const long parsed = strtol(text, &end, 10);
    if (end == text || *end != '\0' || parsed < 0 || parsed > OPENSSL_RSA_MAX_MODULUS_BITS) return 0;
    *number = (int)parsed;
    return 1;
}

static int set_padding(struct foreign_signature *signature, const OSSL_PARAM *parameter)
{
    static const struct named_number names[] = {
        {OSSL_PKEY_RSA_PAD_MODE_PKCSV15, RSA_PKCS1_PADDING},
        {OSSL_PKEY_RSA_PAD_MODE_PSS, RSA_PKCS1_PSS_PADDING},
        {NULL, 0},
    };
    int padding;
    if (!get_number(parameter, names, &padding)) return refuse();
    if (padding != RSA_PKCS1_PADDING && padding != RSA_PKCS1_PSS_PADDING) return refuse();
    signature->padding = padding;
    return 1;
}

static int set_salt(struct foreign_signature *signature, const OSSL_PARAM *parameter)
{
    static const struct named_number names[] = {
        {OSSL_PKEY_RSA_PSS_SALT_LEN_DIGEST, RSA_PSS_SALTLEN_DIGEST},
        {OSSL_PKEY_RSA_PSS_SALT_LEN_MAX, RSA_PSS_SALTLEN_MAX},
        {NULL, 0},
    };
    int salt;
    if (!get_number(parameter, names, &salt)) return refuse();
    if (salt < 0 && salt != RSA_PSS_SALTLEN_DIGEST && salt != RSA_PSS_SALTLEN_MAX) return refuse();
    signature->salt = salt;
    return 1;
}

static int set_mask_hash(const struct foreign_signature *signature, const OSSL_PARAM *parameter)
{
    const char *name;
    if (!OSSL_PARAM_get_utf8_string_ptr(parameter, &name) || name == NULL) return refuse();
    return signature->hash != NULL && EVP_MD_is_a(signature->hash, name) ? 1 : refuse();
}

int foreign_set_parameters(void *data, const OSSL_PARAM parameters[])
{
    struct foreign_signature *signature = data;
    const OSSL_PARAM *found;
    const char *name;
    if (parameters == NULL) return 1;
    // First, as the mask generation function is compared with it.
    if ((found = OSSL_PARAM_locate_const(parameters, OSSL_SIGNATURE_PARAM_DIGEST)) != NULL
        && (!OSSL_PARAM_get_utf8_string_ptr(found, &name) || name == NULL || !foreign_set_hash(signature, name)))
        return 0;
    if (!is_rsa(signature)) return 1;
    if ((found = OSSL_PARAM_locate_const(parameters, OSSL_SIGNATURE_PARAM_PAD_MODE)) != NULL
        && !set_padding(signature, found))
        return 0;
    if ((found = OSSL_PARAM_locate_const(parameters, OSSL_SIGNATURE_PARAM_PSS_SALTLEN)) != NULL
        && !set_salt(signature, found))
        return 0;
    found = OSSL_PARAM_locate_const(parameters, OSSL_SIGNATURE_PARAM_MGF1_DIGEST);
    return found == NULL || set_mask_hash(signature, found);
}

const OSSL_PARAM *foreign_settable(void *signature, void *context)
{
    static const OSSL_PARAM parameters[] = {
        OSSL_PARAM_utf8_string(OSSL_SIGNATURE_PARAM_DIGEST, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_SIGNATURE_PARAM_PAD_MODE, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_SIGNATURE_PARAM_PSS_SALTLEN, NULL, 0),
        OSSL_PARAM_utf8_string(OSSL_SIGNATURE_PARAM_MGF1_DIGEST, NULL, 0),
        OSSL_PARAM_END,
    };
    return (void)signature, (void)context, parameters;
}

int foreign_describe(const struct foreign_signature *signature, struct latchkey_signing *signing)
{
    if (signature->hash == NULL) return refuse();
    const int hash_count = EVP_MD_get_size(signature->hash);
    *signing = (struct latchkey_signing){.scheme = LATCHKEY_ECDSA, .hash = EVP_MD_get_type(signature->hash)};
    if (!is_rsa(signature)) return 1;
    signing->scheme = signature->padding == RSA_PKCS1_PSS_PADDING ? LATCHKEY_RSA_PSS : LATCHKEY_RSA_PKCS1;
    if (signing->scheme == LATCHKEY_RSA_PKCS1) return 1;
    // RFC 8017 section 9.1.1: the encoded block has one bit less than the modulus, and two bytes beside hash and salt.
    const int largest = (EVP_PKEY_get_bits(signature->key->public_key) + 6) / 8 - hash_count - 2;
    int salt = signature->salt;
    if (salt == RSA_PSS_SALTLEN_DIGEST) salt = hash_count;
    if (salt == RSA_PSS_SALTLEN_MAX) salt = largest;
    if (salt < 0 || salt > largest) return refuse();
    signing->salt = (size_t)salt;
    return 1;
}

// The AlgorithmIdentifier (RFC 5280 section 4.1.1.2): of RSA with NULL (RFC 4055 section 5), of ECDSA without parameters
// (RFC 5758 section 3.2). None for RSASSA-PSS, with which nothing here signs certificates or requests.
static int get_identifier(const struct foreign_signature *signature, OSSL_PARAM *parameter)
{
    int number;
    const int key = is_rsa(signature) ? NID_rsaEncryption : NID_X9_62_id_ecPublicKey;
    if (signature->hash == NULL || signature->padding == RSA_PKCS1_PSS_PADDING) return refuse();
    if (!OBJ_find_sigid_by_algs(&number, EVP_MD_get_type(signature->hash), key)) return refuse();
    X509_ALGOR *identifier = X509_ALGOR_new();
    unsigned char *encoded = NULL;
    int count = -1;
    if (identifier != NULL
        && X509_ALGOR_set0(identifier, OBJ_nid2obj(number), is_rsa(signature) ? V_ASN1_NULL : V_ASN1_UNDEF, NULL))
        count = i2d_X509_ALGOR(identifier, &encoded);
    const int is_set = count > 0 && OSSL_PARAM_set_octet_string(parameter, encoded, (size_t)count);
    OPENSSL_free(encoded);
    X509_ALGOR_free(identifier);
    return is_set;
}

int foreign_get_parameters(void *signature, OSSL_PARAM parameters[])
{
    OSSL_PARAM *found = OSSL_PARAM_locate(parameters, OSSL_SIGNATURE_PARAM_ALGORITHM_ID);
    return found == NULL || get_identifier(signature, found);
}

const OSSL_PARAM *foreign_gettable(void *signature, void *context)
{
    static const OSSL_PARAM parameters[] = {
        OSSL_PARAM_octet_string(OSSL_SIGNATURE_PARAM_ALGORITHM_ID, NULL, 0),
        OSSL_PARAM_END,
    };
    return (void)signature, (void)context, parameters;
}
