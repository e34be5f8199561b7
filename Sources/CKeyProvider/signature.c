// Signatures (provider-signature(7)): what is signed is hashed by the default library context, and its digest handed to
// the key's signer.

#include "signature.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/rsa.h>

static void free_signature(void *data)
{
    struct foreign_signature *signature = data;
    if (signature == NULL) return;
    EVP_MD_CTX_free(signature->hashed);
    EVP_MD_free(signature->hash);
    foreign_key_release(signature->key);
    OPENSSL_free(signature);
}

static void *new_signature(void *context, const char *properties)
{
    (void)context, (void)properties;
    return OPENSSL_zalloc(sizeof(struct foreign_signature));
}

static void *copy_signature(void *data)
{
    const struct foreign_signature *signature = data;
    struct foreign_signature *copy = OPENSSL_zalloc(sizeof *copy);
    if (copy == NULL) return NULL;
    copy->padding = signature->padding;
    copy->salt = signature->salt;
    if (signature->key != NULL) copy->key = foreign_key_retain(signature->key);
    if (signature->hash != NULL && EVP_MD_up_ref(signature->hash)) copy->hash = signature->hash;
    if (signature->hashed != NULL) {
        copy->hashed = EVP_MD_CTX_new();
        if (copy->hashed == NULL || !EVP_MD_CTX_copy_ex(copy->hashed, signature->hashed)) {
            free_signature(copy);
            return NULL;
        }
    }
    return copy;
}

static int start(void *data, void *key, const OSSL_PARAM parameters[])
{
    struct foreign_signature *signature = data;
    if (key != NULL) {
        foreign_key_release(signature->key);
        signature->key = foreign_key_retain(key);
        signature->padding = RSA_PKCS1_PADDING;
        signature->salt = RSA_PSS_SALTLEN_DIGEST;
    }
    if (signature->key == NULL || signature->key->signer == NULL) {
        FOREIGN_RAISE(FOREIGN_UNSUPPORTED);
        return 0;
    }
    return foreign_set_parameters(signature, parameters);
}

static int start_hashing(void *data, const char *hash, void *key, const OSSL_PARAM parameters[])
{
    struct foreign_signature *signature = data;
    if (hash != NULL && *hash != '\0' && !foreign_set_hash(signature, hash)) return 0;
    if (!start(signature, key, parameters)) return 0;
    if (signature->hash == NULL) {
        FOREIGN_RAISE(FOREIGN_UNSUPPORTED);
        return 0;
    }
    if (signature->hashed == NULL) signature->hashed = EVP_MD_CTX_new();
    return signature->hashed != NULL && EVP_DigestInit_ex(signature->hashed, signature->hash, NULL);
}

static int hash(void *data, const unsigned char *bytes, size_t count)
{
    struct foreign_signature *signature = data;
    return signature->hashed != NULL && EVP_DigestUpdate(signature->hashed, bytes, count);
}

static int sign(
    void *data, unsigned char *made, size_t *count, size_t capacity, const unsigned char *digest, size_t digest_count)
{
    const struct foreign_signature *signature = data;
    struct latchkey_signing signing;
    if (signature->key == NULL || signature->key->signer == NULL || !foreign_describe(signature, &signing)) return 0;
    const size_t largest = (size_t)EVP_PKEY_get_size(signature->key->public_key);
    if (made == NULL) {
        *count = largest;
        return 1;
    }
    if (capacity < largest || digest_count != (size_t)EVP_MD_get_size(signature->hash)) {
        FOREIGN_RAISE(FOREIGN_UNSUPPORTED);
        return 0;
    }
    signing.digest = digest;
    signing.digest_count = digest_count;
    const struct foreign_signer *signer = signature->key->signer;
    // What the signer leaves in the queue would make libssl see a failure in what only waits (SSL_get_error(3)).
    ERR_set_mark();
    const size_t written = signer->sign(signer->context, &signing, made, largest);
    ERR_pop_to_mark();
    if (written == 0 || written > largest) {
        FOREIGN_RAISE(FOREIGN_SIGNER_FAILED);
        return 0;
    }
    *count = written;
    return 1;
}

static int end_hashing(void *data, unsigned char *made, size_t *count, size_t capacity)
{
    struct foreign_signature *signature = data;
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int digest_count = 0;
    // OpenSSL asks for the length first, after which there may be more to sign.
    if (made == NULL) return sign(signature, NULL, count, 0, NULL, 0);
    return signature->hashed != NULL && EVP_DigestFinal_ex(signature->hashed, digest, &digest_count)
        && sign(signature, made, count, capacity, digest, digest_count);
}

static int sign_at_once(
    void *data, unsigned char *made, size_t *count, size_t capacity, const unsigned char *bytes, size_t byte_count)
{
    if (made == NULL) return sign(data, NULL, count, 0, NULL, 0);
    return hash(data, bytes, byte_count) && end_hashing(data, made, count, capacity);
}

const OSSL_DISPATCH foreign_signatures[] = {
    {OSSL_FUNC_SIGNATURE_NEWCTX, (void (*)(void))new_signature},
    {OSSL_FUNC_SIGNATURE_FREECTX, (void (*)(void))free_signature},
    {OSSL_FUNC_SIGNATURE_DUPCTX, (void (*)(void))copy_signature},
    {OSSL_FUNC_SIGNATURE_SIGN_INIT, (void (*)(void))start},
    {OSSL_FUNC_SIGNATURE_SIGN, (void (*)(void))sign},
    {OSSL_FUNC_SIGNATURE_DIGEST_SIGN_INIT, (void (*)(void))start_hashing},
    {OSSL_FUNC_SIGNATURE_DIGEST_SIGN_UPDATE, (void (*)(void))hash},
    {OSSL_FUNC_SIGNATURE_DIGEST_SIGN_FINAL, (void (*)(void))end_hashing},
    {OSSL_FUNC_SIGNATURE_DIGEST_SIGN, (void (*)(void))sign_at_once},
    {OSSL_FUNC_SIGNATURE_SET_CTX_PARAMS, (void (*)(void))foreign_set_parameters},
    {OSSL_FUNC_SIGNATURE_SETTABLE_CTX_PARAMS, (void (*)(void))foreign_settable},
    {OSSL_FUNC_SIGNATURE_GET_CTX_PARAMS, (void (*)(void))foreign_get_parameters},
    {OSSL_FUNC_SIGNATURE_GETTABLE_CTX_PARAMS, (void (*)(void))foreign_gettable},
    {0, NULL},
};
