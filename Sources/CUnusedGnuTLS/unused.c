// libcurl and libmicrohttpd bring GnuTLS, for protocols that this program does not speak and for a TLS server that it is
// not. It sets itself up when it is loaded, and again when libmicrohttpd asks for that, and 0.8 MB of it are resident from then
// on. The dynamic linker finds these two functions of the program before the library's own, as they are exported
// (--export-dynamic-symbol). The lab speaks TLS by GnuTLS, and is another program; tests play it, and are not the shipped one.

#ifdef LATCHKEY_IS_SHIPPED

// What GnuTLS's header defines for programs that do not want it to be set up when it is loaded (GNUTLS_SKIP_GLOBAL_INIT).
int _gnutls_global_init_skip(void);
int _gnutls_global_init_skip(void) { return 1; }

// For libmicrohttpd, which asks for it at its first start: done, as far as it will ever know (gnutls_global_init(3)).
int gnutls_global_init(void);
int gnutls_global_init(void) { return 0; }

#endif
