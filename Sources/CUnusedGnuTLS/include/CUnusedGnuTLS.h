// Has GnuTLS not set itself up, for a program that speaks no TLS by it. Nothing is to be called.
#pragma once
