/* OpenSSL 3, and the calls of it that Swift cannot name because they are macros or variadic. */
#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/objects.h>
#include <openssl/param_build.h>
#include <openssl/provider.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#if OPENSSL_VERSION_MAJOR < 3
#error "OpenSSL 3 or later is needed (EVP_PKEY_get_bn_param, providers)"
#endif

/* Keys: the generators are variadic. */
static inline EVP_PKEY *latchkey_generate_rsa(size_t bits) { return EVP_PKEY_Q_keygen(NULL, NULL, "RSA", bits); }
static inline EVP_PKEY *latchkey_generate_p256(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"); }
/* The selection of EVP_PKEY_fromdata for a public key: a macro of other macros. */
static const int latchkey_public_key_parts = EVP_PKEY_PUBLIC_KEY;
/* The builder keeps the names it is given by address, so they must be C's own literals. */
static inline int latchkey_push_rsa_numbers(OSSL_PARAM_BLD *builder, const BIGNUM *modulus, const BIGNUM *exponent) {
    return OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) == 1
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) == 1;
}

/* Memory whose allocator is a macro with the source line in it. */
static inline void *latchkey_allocate(size_t count) { return OPENSSL_malloc(count); }
static inline void latchkey_free(void *bytes) { OPENSSL_free(bytes); }
static inline void latchkey_wipe_and_free(void *bytes, size_t count) { OPENSSL_clear_free(bytes, count); }

/* Stacks: typed by macros. */
static inline STACK_OF(X509) *latchkey_certificates_new(void) { return sk_X509_new_null(); }
static inline int latchkey_certificates_push(STACK_OF(X509) *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate);
}
static inline int latchkey_certificates_count(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *latchkey_certificates_at(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
static inline void latchkey_certificates_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }

static inline GENERAL_NAMES *latchkey_names_new(void) { return sk_GENERAL_NAME_new_null(); }
static inline int latchkey_names_push(GENERAL_NAMES *names, GENERAL_NAME *name) { return sk_GENERAL_NAME_push(names, name); }
static inline int latchkey_names_count(const GENERAL_NAMES *names) { return sk_GENERAL_NAME_num(names); }
static inline const GENERAL_NAME *latchkey_names_at(const GENERAL_NAMES *names, int index) {
    return sk_GENERAL_NAME_value(names, index);
}

/* PKCS#12: stacks typed by macros, and what is behind a union. */
static inline int latchkey_safes_count(const STACK_OF(PKCS7) *safes) { return sk_PKCS7_num(safes); }
static inline PKCS7 *latchkey_safes_at(const STACK_OF(PKCS7) *safes, int index) { return sk_PKCS7_value(safes, index); }
static inline void latchkey_safes_free(STACK_OF(PKCS7) *safes) { sk_PKCS7_pop_free(safes, PKCS7_free); }
static inline int latchkey_bags_count(const STACK_OF(PKCS12_SAFEBAG) *bags) { return sk_PKCS12_SAFEBAG_num(bags); }
static inline PKCS12_SAFEBAG *latchkey_bags_at(const STACK_OF(PKCS12_SAFEBAG) *bags, int index) {
    return sk_PKCS12_SAFEBAG_value(bags, index);
}
static inline void latchkey_bags_free(STACK_OF(PKCS12_SAFEBAG) *bags) {
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
}
static inline int latchkey_safe_is_plain(const PKCS7 *safe) { return PKCS7_type_is_data(safe) && safe->d.data != NULL; }
/* NULL where the safe is not encrypted with a password. */
static inline const X509_ALGOR *latchkey_safe_encryption(const PKCS7 *safe) {
    if (!PKCS7_type_is_encrypted(safe) || safe->d.encrypted == NULL || safe->d.encrypted->enc_data == NULL) return NULL;
    /* Without content, PKCS12_item_decrypt_d2i_ex has read from NULL (CVE-2025-69421). */
    if (safe->d.encrypted->enc_data->enc_data == NULL) return NULL;
    return safe->d.encrypted->enc_data->algorithm;
}
/* The contents of a safe, in a library context of their own; NULL if they cannot be decrypted. */
static inline STACK_OF(PKCS12_SAFEBAG) *latchkey_safe_decrypt(
    const PKCS7 *safe, const char *password, int count, OSSL_LIB_CTX *library) {
    PKCS7_ENC_CONTENT *content = safe->d.encrypted->enc_data;
    return (STACK_OF(PKCS12_SAFEBAG) *)PKCS12_item_decrypt_d2i_ex(
        content->algorithm, ASN1_ITEM_rptr(PKCS12_SAFEBAGS), password, count, content->enc_data, 1, library, NULL);
}
/* How often the key of an encryption by password is hashed (RFC 8018 appendix A), or that of a code over a file, whose
   parameters have the same form (RFC 9579); -1 where it is derived otherwise. */
static inline int64_t latchkey_iterations(const X509_ALGOR *encryption) {
    int64_t count = -1;
    int scheme_number = OBJ_obj2nid(encryption->algorithm);
    if (scheme_number == NID_pbes2 || scheme_number == NID_pbmac1) {
        PBE2PARAM *scheme = (PBE2PARAM *)ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBE2PARAM), encryption->parameter);
        if (scheme != NULL && OBJ_obj2nid(scheme->keyfunc->algorithm) == NID_id_pbkdf2) {
            PBKDF2PARAM *derivation = (PBKDF2PARAM *)ASN1_TYPE_unpack_sequence(
                ASN1_ITEM_rptr(PBKDF2PARAM), scheme->keyfunc->parameter);
            if (derivation != NULL && !ASN1_INTEGER_get_int64(&count, derivation->iter)) count = -1;
            /* A code's key goes to a buffer of 64 bytes, which was not checked (CVE-2025-11187). */
            if (derivation != NULL && scheme_number == NID_pbmac1) {
                int64_t bytes = 0;
                if (derivation->keylength == NULL || !ASN1_INTEGER_get_int64(&bytes, derivation->keylength) ||
                    bytes < 1 || bytes > 64)
                    count = -1;
            }
            PBKDF2PARAM_free(derivation);
        }
        PBE2PARAM_free(scheme);
    } else {
        PBEPARAM *scheme = (PBEPARAM *)ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBEPARAM), encryption->parameter);
        if (scheme != NULL && !ASN1_INTEGER_get_int64(&count, scheme->iter)) count = -1;
        PBEPARAM_free(scheme);
    }
    return count;
}
static inline int latchkey_means_unsupported(unsigned long error) { return ERR_GET_REASON(error) == ERR_R_UNSUPPORTED; }

/* SSL_CTX: options and slots that are macros over SSL_CTX_ctrl and CRYPTO_get_ex_new_index. */
static inline int latchkey_context_slot(CRYPTO_EX_free *free) {
    return SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free);
}
static inline int latchkey_context_require_tls(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version) == 1 && SSL_CTX_set_max_proto_version(context, 0) == 1;
}
static inline void latchkey_context_turn_sessions_off(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}
static inline void latchkey_context_limit_chain(SSL_CTX *context, long bytes) {
    SSL_CTX_set_max_cert_list(context, bytes);
}
static inline void latchkey_context_share_store(SSL_CTX *context, X509_STORE *store) {
    SSL_CTX_set1_cert_store(context, store);
}
static inline int latchkey_context_limit_client_signatures(SSL_CTX *context, const char *list) {
    return SSL_CTX_set1_client_sigalgs_list(context, list);
}
static inline int latchkey_context_clear_chain(SSL_CTX *context) { return SSL_CTX_clear_chain_certs(context); }
static inline int latchkey_context_add_chain(SSL_CTX *context, X509 *certificate) {
    return SSL_CTX_add1_chain_cert(context, certificate);
}

/* SSL: a client's connection; its options are macros over SSL_ctrl. */
static inline int latchkey_connection_name_server(SSL *connection, const char *name) {
    return SSL_set_tlsext_host_name(connection, name) == 1;
}
static inline void latchkey_connection_write_in_parts(SSL *connection) {
    SSL_set_mode(connection, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

/* BIO: its operations are macros over BIO_ctrl. */
static inline int latchkey_bio_set_buffer_size(BIO *bio, long bytes) { return BIO_set_buffer_size(bio, bytes) == 1; }
static inline int latchkey_bio_flush(BIO *bio) { return BIO_flush(bio) == 1; }
static inline size_t latchkey_bio_unread(BIO *bio) { return BIO_ctrl_pending(bio); }
static inline size_t latchkey_bio_unsent(BIO *bio) { return BIO_ctrl_wpending(bio); }
