/* GnuTLS, and what Swift cannot name of it: flags that are macros and members of an enumeration at once, and a function
   behind a variable. */
#pragma once
#include <gnutls/gnutls.h>

/* A session of a server whose transport says that it would block (gnutls_init(3)). */
static inline int latchkey_tls_init(gnutls_session_t *session) {
    return gnutls_init(session, GNUTLS_SERVER | GNUTLS_NONBLOCK);
}

/* Frees what GnuTLS has allocated for its caller. */
static inline void latchkey_tls_free(gnutls_datum_t datum) { gnutls_free(datum.data); }
