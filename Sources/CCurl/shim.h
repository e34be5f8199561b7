/* libcurl for Swift, loaded when it is first needed: 18 more libraries come with it, and a board whose token is still valid
 * connects to its broker without a request. The headers are those of libcurl4-openssl-dev; nothing is linked.
 *
 * What is variadic has a setter or getter for each type of argument, which Swift can call.
 */
#pragma once
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include "../CLinux/late.h"

#if !CURL_AT_LEAST_VERSION(7, 85, 0)
#error "libcurl 7.85 or later is needed (CURLOPT_PROTOCOLS_STR)"
#endif

#define LATCHKEY_CURL_CALLS(CALL) \
    CALL(global_init, curl_global_init) \
    CALL(version_info, curl_version_info) \
    CALL(free, curl_free) \
    CALL(easy_init, curl_easy_init) \
    CALL(easy_cleanup, curl_easy_cleanup) \
    CALL(easy_reset, curl_easy_reset) \
    CALL(easy_pause, curl_easy_pause) \
    CALL(easy_strerror, curl_easy_strerror) \
    CALL(easy_setopt, curl_easy_setopt) \
    CALL(easy_getinfo, curl_easy_getinfo) \
    CALL(multi_init, curl_multi_init) \
    CALL(multi_add_handle, curl_multi_add_handle) \
    CALL(multi_remove_handle, curl_multi_remove_handle) \
    CALL(multi_perform, curl_multi_perform) \
    CALL(multi_poll, curl_multi_poll) \
    CALL(multi_wakeup, curl_multi_wakeup) \
    CALL(multi_info_read, curl_multi_info_read) \
    CALL(multi_strerror, curl_multi_strerror) \
    CALL(multi_setopt, curl_multi_setopt) \
    CALL(share_init, curl_share_init) \
    CALL(share_cleanup, curl_share_cleanup) \
    CALL(share_strerror, curl_share_strerror) \
    CALL(share_setopt, curl_share_setopt) \
    CALL(slist_append, curl_slist_append) \
    CALL(slist_free_all, curl_slist_free_all) \
    CALL(url, curl_url) \
    CALL(url_cleanup, curl_url_cleanup) \
    CALL(url_set, curl_url_set) \
    CALL(url_get, curl_url_get)
LATCHKEY_LATE_LIBRARY(curl, "libcurl.so.4", LATCHKEY_CURL_CALLS)

/* Version of the loaded libcurl. */
static inline const char *latchkey_curl_version(const struct latchkey_curl_calls *curl) {
    return curl->version_info(CURLVERSION_NOW)->version;
}

/* Name and version of the TLS library that the loaded libcurl uses, or NULL. */
static inline const char *latchkey_curl_tls_library(const struct latchkey_curl_calls *curl) {
    return curl->version_info(CURLVERSION_NOW)->ssl_version;
}

static inline CURLcode latchkey_curl_set_long(const struct latchkey_curl_calls *curl, CURL *easy, CURLoption option, long value) {
    return curl->easy_setopt(easy, option, value);
}

static inline CURLcode latchkey_curl_set_offset(const struct latchkey_curl_calls *curl, CURL *easy, CURLoption option,
                                                curl_off_t value) {
    return curl->easy_setopt(easy, option, value);
}

static inline CURLcode latchkey_curl_set_text(const struct latchkey_curl_calls *curl, CURL *easy, CURLoption option,
                                              const char *value) {
    return curl->easy_setopt(easy, option, value);
}

static inline CURLcode latchkey_curl_set_pointer(const struct latchkey_curl_calls *curl, CURL *easy, CURLoption option,
                                                 void *value) {
    return curl->easy_setopt(easy, option, value);
}

/* For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION, whose callbacks have one type. */
static inline CURLcode latchkey_curl_set_receiver(const struct latchkey_curl_calls *curl, CURL *easy, CURLoption option,
                                                  size_t (*receiver)(char *, size_t, size_t, void *)) {
    return curl->easy_setopt(easy, option, receiver);
}

static inline CURLcode latchkey_curl_set_tls_hook(const struct latchkey_curl_calls *curl, CURL *easy,
                                                  CURLcode (*hook)(CURL *, void *, void *)) {
    return curl->easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, hook);
}

static inline CURLcode latchkey_curl_set_connected_hook(const struct latchkey_curl_calls *curl, CURL *easy,
                                                        int (*hook)(void *, char *, char *, int, int)) {
    return curl->easy_setopt(easy, CURLOPT_PREREQFUNCTION, hook);
}

static inline CURLcode latchkey_curl_set_trace(const struct latchkey_curl_calls *curl, CURL *easy,
                                               int (*trace)(CURL *, curl_infotype, char *, size_t, void *)) {
    return curl->easy_setopt(easy, CURLOPT_DEBUGFUNCTION, trace);
}

static inline CURLcode latchkey_curl_get_long(const struct latchkey_curl_calls *curl, CURL *easy, CURLINFO info, long *value) {
    return curl->easy_getinfo(easy, info, value);
}

static inline CURLcode latchkey_curl_get_pointer(const struct latchkey_curl_calls *curl, CURL *easy, CURLINFO info, void *value) {
    return curl->easy_getinfo(easy, info, (void **)value);
}

static inline CURLMcode latchkey_curl_multi_set_long(const struct latchkey_curl_calls *curl, CURLM *multi, CURLMoption option,
                                                     long value) {
    return curl->multi_setopt(multi, option, value);
}

/* Makes the easy handles of a share use one cache of connections. */
static inline CURLSHcode latchkey_curl_share_connections(const struct latchkey_curl_calls *curl, CURLSH *share) {
    return curl->share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT);
}

/* The easy handle and the result that a message of kind CURLMSG_DONE carries. */
static inline CURL *latchkey_curl_finished(const CURLMsg *message, CURLcode *result) {
    if (message->msg != CURLMSG_DONE) return NULL;
    *result = message->data.result;
    return message->easy_handle;
}
