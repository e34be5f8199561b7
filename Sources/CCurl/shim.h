/* libcurl for Swift: its variadic setters and getters, one per type of argument. */
#pragma once
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#if !CURL_AT_LEAST_VERSION(7, 85, 0)
#error "libcurl 7.85 or later is needed (CURLOPT_PROTOCOLS_STR)"
#endif

/* Version of the loaded libcurl. */
static inline const char *latchkey_curl_version(void) { return curl_version_info(CURLVERSION_NOW)->version; }

/* Name and version of the TLS library that the loaded libcurl uses, or NULL. */
static inline const char *latchkey_curl_tls_library(void) { return curl_version_info(CURLVERSION_NOW)->ssl_version; }

static inline CURLcode latchkey_curl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode latchkey_curl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode latchkey_curl_set_text(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode latchkey_curl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

/* For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION, whose callbacks have one type. */
static inline CURLcode latchkey_curl_set_receiver(CURL *easy, CURLoption option,
                                                  size_t (*receiver)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(easy, option, receiver);
}

static inline CURLcode latchkey_curl_set_tls_hook(CURL *easy, CURLcode (*hook)(CURL *, void *, void *)) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, hook);
}

static inline CURLcode latchkey_curl_set_connected_hook(CURL *easy, int (*hook)(void *, char *, char *, int, int)) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, hook);
}

static inline CURLcode latchkey_curl_set_trace(CURL *easy, int (*trace)(CURL *, curl_infotype, char *, size_t, void *)) {
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, trace);
}

static inline CURLcode latchkey_curl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode latchkey_curl_get_pointer(CURL *easy, CURLINFO info, void *value) {
    return curl_easy_getinfo(easy, info, (void **)value);
}

static inline CURLMcode latchkey_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/* Makes the easy handles of a share use one cache of connections. */
static inline CURLSHcode latchkey_curl_share_connections(CURLSH *share) {
    return curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
}

/* The easy handle and the result that a message of kind CURLMSG_DONE carries. */
static inline CURL *latchkey_curl_finished(const CURLMsg *message, CURLcode *result) {
    if (message->msg != CURLMSG_DONE) return NULL;
    *result = message->data.result;
    return message->easy_handle;
}
