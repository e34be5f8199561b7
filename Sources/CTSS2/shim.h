/* The TPM2 Software Stack for Swift, loaded when a chip is first needed: three libraries and what they load. The
 * headers are those of libtss2-dev; nothing is linked.
 *
 * Only functions whose declarations are the same in 3.2 and 4.1 are listed.
 */
#pragma once
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_tctildr.h>
#include "../CLinux/late.h"

/* Properties of a chip (TPM 2.0 part 2 section 6.13), as numbers that Swift can read. */
enum {
    LATCHKEY_TPM_MANUFACTURER = TPM2_PT_MANUFACTURER,
    LATCHKEY_TPM_FIRMWARE = TPM2_PT_FIRMWARE_VERSION_1,
    LATCHKEY_TPM_FAILED_TRIES = TPM2_PT_LOCKOUT_COUNTER,
    LATCHKEY_TPM_TRY_LIMIT = TPM2_PT_MAX_AUTH_FAIL,
};

#define LATCHKEY_ESYS_CALLS(CALL) \
    CALL(initialize, Esys_Initialize) \
    CALL(finalize, Esys_Finalize) \
    CALL(free, Esys_Free) \
    CALL(get_name, Esys_TR_GetName) \
    CALL(set_auth, Esys_TR_SetAuth) \
    CALL(from_handle, Esys_TR_FromTPMPublic) \
    CALL(start_session, Esys_StartAuthSession) \
    CALL(set_session_attributes, Esys_TRSess_SetAttributes) \
    CALL(pcr_read, Esys_PCR_Read) \
    CALL(policy_pcr, Esys_PolicyPCR) \
    CALL(policy_digest, Esys_PolicyGetDigest) \
    CALL(test_parameters, Esys_TestParms) \
    CALL(get_capability, Esys_GetCapability) \
    CALL(create_primary, Esys_CreatePrimary) \
    CALL(create, Esys_Create) \
    CALL(load, Esys_Load) \
    CALL(sign, Esys_Sign) \
    CALL(rsa_decrypt, Esys_RSA_Decrypt) \
    CALL(unseal, Esys_Unseal) \
    CALL(flush, Esys_FlushContext) \
    CALL(nv_define, Esys_NV_DefineSpace) \
    CALL(nv_undefine, Esys_NV_UndefineSpace) \
    CALL(nv_increment, Esys_NV_Increment) \
    CALL(nv_read, Esys_NV_Read) \
    CALL(nv_write, Esys_NV_Write)
LATCHKEY_LATE_LIBRARY(esys, "libtss2-esys.so.0", LATCHKEY_ESYS_CALLS)

#define LATCHKEY_TSS_MARSHALING_CALLS(CALL) \
    CALL(write_public, Tss2_MU_TPM2B_PUBLIC_Marshal) \
    CALL(read_public, Tss2_MU_TPM2B_PUBLIC_Unmarshal) \
    CALL(read_parameters, Tss2_MU_TPMT_PUBLIC_PARMS_Unmarshal) \
    CALL(write_signature, Tss2_MU_TPMT_SIGNATURE_Marshal)
LATCHKEY_LATE_LIBRARY(tss_marshaling, "libtss2-mu.so.0", LATCHKEY_TSS_MARSHALING_CALLS)

#define LATCHKEY_TSS_CONNECTION_CALLS(CALL) \
    CALL(open, Tss2_TctiLdr_Initialize) \
    CALL(close, Tss2_TctiLdr_Finalize)
LATCHKEY_LATE_LIBRARY(tss_connection, "libtss2-tctildr.so.0", LATCHKEY_TSS_CONNECTION_CALLS)
