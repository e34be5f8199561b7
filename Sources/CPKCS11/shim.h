/* PKCS #11 for Swift: the declarations of version 2.40. A module is a file that the settings name, and is loaded when
 * it is first needed. The header is that of libp11-kit-dev; nothing is linked.
 */
#pragma once
#include <dlfcn.h>
#include <stddef.h>
#include <p11-kit-1/p11-kit/pkcs11.h>

#define LATCHKEY_TOKEN_CALLS(CALL) \
    CALL(C_Initialize) CALL(C_Finalize) CALL(C_GetInfo) CALL(C_GetSlotList) CALL(C_GetTokenInfo) \
    CALL(C_OpenSession) CALL(C_CloseSession) CALL(C_GetSessionInfo) CALL(C_Login) \
    CALL(C_FindObjectsInit) CALL(C_FindObjects) CALL(C_FindObjectsFinal) CALL(C_GetAttributeValue) \
    CALL(C_DestroyObject) CALL(C_GenerateKeyPair) CALL(C_SignInit) CALL(C_Sign) \
    CALL(C_DecryptInit) CALL(C_Decrypt) CALL(C_DeriveKey)
#define LATCHKEY_TOKEN_NEEDS(name) if (!(*functions)->name) return "it lacks " #name;

/* Loads a module and gives the table of its functions, after a check that it has all that are listed above. The module
 * stays loaded: one that is unloaded may leave threads and exit handlers behind. Returns NULL, or what is wrong; that text is
 * valid until the thread loads something else. */
static inline const char *latchkey_load_token_module(const char *path, CK_FUNCTION_LIST **functions) {
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module) return dlerror();
    CK_C_GetFunctionList list = (CK_C_GetFunctionList)dlsym(module, "C_GetFunctionList");
    if (!list) return "it has no C_GetFunctionList";
    *functions = NULL;
    if (list(functions) != CKR_OK || !*functions) return "its C_GetFunctionList gives no functions";
    const int version = (*functions)->version.major;
    if (version != 2 && version != 3) return "it is not of PKCS #11 version 2 or 3";
    LATCHKEY_TOKEN_CALLS(LATCHKEY_TOKEN_NEEDS)
    return NULL;
}
