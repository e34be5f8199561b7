/* libcurl for Swift, loaded when it is first needed: 18 more libraries come with it, and a board whose token is still valid
 * connects to its broker without a request. The headers are those of libcurl4-openssl-dev; nothing is linked.
 *
 * The types of the table are the declarations' own, so that a library whose header differs does not compile. What is
 * variadic has a setter or getter for each type of argument, which Swift can call.
 */
#pragma once
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>

#if !CURL_AT_LEAST_VERSION(7, 85, 0)
#error "libcurl 7.85 or later is needed (CURLOPT_PROTOCOLS_STR)"
#endif

struct latchkey_curl_calls {
    __typeof__(&curl_global_init) global_init;
    __typeof__(&curl_version_info) version_info;
    __typeof__(&curl_free) free;
    __typeof__(&curl_easy_init) easy_init;
    __typeof__(&curl_easy_cleanup) easy_cleanup;
    __typeof__(&curl_easy_reset) easy_reset;
    __typeof__(&curl_easy_pause) easy_pause;
    __typeof__(&curl_easy_strerror) easy_strerror;
    __typeof__(&(curl_easy_setopt)) easy_setopt;
    __typeof__(&(curl_easy_getinfo)) easy_getinfo;
    __typeof__(&curl_multi_init) multi_init;
    __typeof__(&curl_multi_add_handle) multi_add_handle;
    __typeof__(&curl_multi_remove_handle) multi_remove_handle;
    __typeof__(&curl_multi_perform) multi_perform;
    __typeof__(&curl_multi_poll) multi_poll;
    __typeof__(&curl_multi_wakeup) multi_wakeup;
    __typeof__(&curl_multi_info_read) multi_info_read;
    __typeof__(&curl_multi_strerror) multi_strerror;
    __typeof__(&(curl_multi_setopt)) multi_setopt;
    __typeof__(&curl_share_init) share_init;
    __typeof__(&curl_share_cleanup) share_cleanup;
    __typeof__(&curl_share_strerror) share_strerror;
    __typeof__(&(curl_share_setopt)) share_setopt;
    __typeof__(&curl_slist_append) slist_append;
    __typeof__(&curl_slist_free_all) slist_free_all;
    __typeof__(&curl_url) url;
    __typeof__(&curl_url_cleanup) url_cleanup;
    __typeof__(&curl_url_set) url_set;
    __typeof__(&curl_url_get) url_get;
};

/* Fills the table; NULL, or what is missing. The library stays loaded. */
static inline const char *latchkey_load_curl(struct latchkey_curl_calls *calls) {
    void *library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_LOCAL);
    if (!library) return "libcurl.so.4";
#define LATCHKEY_LOAD(field) \
    if (!(calls->field = (__typeof__(calls->field))dlsym(library, "curl_" #field))) return "curl_" #field
    LATCHKEY_LOAD(global_init);
    LATCHKEY_LOAD(version_info);
    LATCHKEY_LOAD(free);
    LATCHKEY_LOAD(easy_init);
    LATCHKEY_LOAD(easy_cleanup);
    LATCHKEY_LOAD(easy_reset);
    LATCHKEY_LOAD(easy_pause);
    LATCHKEY_LOAD(easy_strerror);
    LATCHKEY_LOAD(easy_setopt);
    LATCHKEY_LOAD(easy_getinfo);
    LATCHKEY_LOAD(multi_init);
    LATCHKEY_LOAD(multi_add_handle);
    LATCHKEY_LOAD(multi_remove_handle);
    LATCHKEY_LOAD(multi_perform);
    LATCHKEY_LOAD(multi_poll);
    LATCHKEY_LOAD(multi_wakeup);
    LATCHKEY_LOAD(multi_info_read);
    LATCHKEY_LOAD(multi_strerror);
    LATCHKEY_LOAD(multi_setopt);
    LATCHKEY_LOAD(share_init);
    LATCHKEY_LOAD(share_cleanup);
    LATCHKEY_LOAD(share_strerror);
    LATCHKEY_LOAD(share_setopt);
    LATCHKEY_LOAD(slist_append);
    LATCHKEY_LOAD(slist_free_all);
    LATCHKEY_LOAD(url);
    LATCHKEY_LOAD(url_cleanup);
    LATCHKEY_LOAD(url_set);
    LATCHKEY_LOAD(url_get);
#undef LATCHKEY_LOAD
    return NULL;
}

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
