import Foundation
import TestSupport

@testable import Vault

/// A module that hands all calls on to SoftHSM, counts some of them, and answers wrongly when it is told to.
final class FaultyModule {
    /// What it does wrong. The names are those of the C variables.
    enum Fault: String {
        /// So many times, `C_SignInit` returns ``Number/code``.
        case losses
        /// So many times, `C_OpenSession` returns ``Number/code``.
        case closed
        case wrongSignature, longSignature, shortSignature
        /// `C_GetAttributeValue` says that an attribute is as large.
        case attributeSize
        /// An attribute is larger when it is read than when its size is asked for.
        case growingAttribute
        /// `C_FindObjects` counts more than it has room for, or never ends.
        case manyObjects, endlessObjects
        /// `C_GetSlotList` counts as many.
        case slotCount
        /// These flags of the token are set too.
        case flags
        /// `C_SignInit` does not know `CKM_RSA_PKCS_PSS`.
        case noPSS
        /// `CKA_EC_POINT` has no OCTET STRING.
        case bareEC
        /// New keys are said to be extractable.
        case extractable
        /// The secret of an agreement or a decryption has a byte too few.
        case shortSecret
        /// The token in this slot does not describe itself.
        case broken
    }

    enum Number: String {
        case code
        case logins, opened, finalized
    }

    let module: TokenModule
    let path: String
    private let library: UnsafeMutableRawPointer
    private let folder: Desk

    /// - Parameter further: options of the C compiler.
    init(_ further: String...) throws {
        folder = try Desk()
        path = folder.directory + "/faulty.so"
        let source = folder.directory + "/faulty.c"
        try Self.source.write(toFile: source, atomically: true, encoding: .utf8)
        _ = try SoftHSM.shared.run(["cc", "-shared", "-fPIC", "-O1", "-w"] + further + ["-o", path, source])
        guard chmod(path, 0o755) == 0, let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            throw Unexpected("no module: \(String(cString: dlerror()))")
        }
        self.library = library
        module = TokenModule(path: path, trustsThisUser: true)
    }

    func set(_ fault: Fault, _ value: Int = 1) throws { try variable(fault.rawValue).pointee = value }
    func set(_ number: Number, _ value: UInt) throws { try variable(number.rawValue).pointee = Int(value) }
    func count(_ number: Number) throws -> Int { try variable(number.rawValue).pointee }

    private func variable(_ name: String) throws -> UnsafeMutablePointer<Int> {
        guard let address = dlsym(library, name) else { throw Unexpected("no variable \(name)") }
        return address.assumingMemoryBound(to: Int.self)
    }

    private static let source = """
        #include <dlfcn.h>
        #include <string.h>
        #include <p11-kit-1/p11-kit/pkcs11.h>

        long losses, closed, wrongSignature, longSignature, shortSignature, attributeSize, growingAttribute;
        long manyObjects, endlessObjects, slotCount, flags, noPSS, bareEC, extractable, shortSecret;
        long broken = -1, code, logins, opened, finalized;
        static CK_FUNCTION_LIST *real, list;

        static CK_RV sign_init(CK_SESSION_HANDLE s, CK_MECHANISM *m, CK_OBJECT_HANDLE k) {
            if (losses > 0) { losses--; return code; }
            if (noPSS && m->mechanism == CKM_RSA_PKCS_PSS) return CKR_MECHANISM_INVALID;
            return real->C_SignInit(s, m, k);
        }
        static CK_RV sign(CK_SESSION_HANDLE s, CK_BYTE *d, CK_ULONG n, CK_BYTE *out, CK_ULONG *count) {
            CK_RV result = real->C_Sign(s, d, n, out, count);
            if (result == CKR_OK && wrongSignature) out[5] ^= 1;
            if (result == CKR_OK && longSignature) *count = 1000000;
            if (result == CKR_OK && shortSignature) *count -= 1;
            return result;
        }
        static CK_RV open_session(CK_SLOT_ID id, CK_FLAGS f, void *a, CK_NOTIFY n, CK_SESSION_HANDLE *s) {
            opened++;
            if (closed > 0) { closed--; return code; }
            return real->C_OpenSession(id, f, a, n, s);
        }
        static CK_RV login(CK_SESSION_HANDLE s, CK_USER_TYPE u, CK_BYTE *pin, CK_ULONG n) {
            logins++;
            if (!pin) return real->C_Login(s, u, (CK_BYTE *)"\(SoftHSM.pin)", \(SoftHSM.pin.utf8.count));
            return real->C_Login(s, u, pin, n);
        }
        static CK_RV attributes(CK_SESSION_HANDLE s, CK_OBJECT_HANDLE o, CK_ATTRIBUTE *a, CK_ULONG n) {
            if (bareEC && a->type == CKA_EC_POINT) {
                CK_BYTE point[67];
                CK_ATTRIBUTE whole = {CKA_EC_POINT, point, sizeof point};
                CK_RV result = real->C_GetAttributeValue(s, o, &whole, 1);
                if (result == CKR_OK && a->pValue) memcpy(a->pValue, point + 2, 65);
                a->ulValueLen = 65;
                return result;
            }
            CK_RV result = real->C_GetAttributeValue(s, o, a, n);
            if (result != CKR_OK) return result;
            if (attributeSize) a->ulValueLen = attributeSize;
            if (growingAttribute && a->pValue) a->ulValueLen += 1;
            if (extractable && a->type == CKA_EXTRACTABLE && a->pValue) *(CK_BBOOL *)a->pValue = CK_TRUE;
            if (shortSecret && a->type == CKA_VALUE && a->pValue) a->ulValueLen -= 1;
            return CKR_OK;
        }
        static CK_RV decrypt(CK_SESSION_HANDLE s, CK_BYTE *d, CK_ULONG n, CK_BYTE *out, CK_ULONG *count) {
            CK_RV result = real->C_Decrypt(s, d, n, out, count);
            if (shortSecret) *count -= 1;
            return result;
        }
        static CK_RV find(CK_SESSION_HANDLE s, CK_OBJECT_HANDLE *o, CK_ULONG n, CK_ULONG *count) {
            CK_RV result = real->C_FindObjects(s, o, n, count);
            if (manyObjects) *count = n + 1;
            if (endlessObjects) *count = n;
            return result;
        }
        static CK_RV slots(CK_BBOOL present, CK_SLOT_ID *ids, CK_ULONG *count) {
            CK_RV result = real->C_GetSlotList(present, ids, count);
            if (slotCount) *count = slotCount;
            return result;
        }
        static CK_RV token(CK_SLOT_ID id, CK_TOKEN_INFO *info) {
            if (id == broken) return CKR_GENERAL_ERROR;
            CK_RV result = real->C_GetTokenInfo(id, info);
            info->flags |= flags;
            return result;
        }
        static CK_RV initialize(void *arguments) {
            return arguments ? CKR_CANT_LOCK : real->C_Initialize(arguments);
        }
        static CK_RV first(void *arguments) {
            return ((CK_C_INITIALIZE_ARGS *)arguments)->flags == CKF_OS_LOCKING_OK ? CKR_OK : CKR_ARGUMENTS_BAD;
        }
        static CK_RV finalize(void *reserved) { finalized++; return CKR_OK; }

        CK_RV C_GetFunctionList(CK_FUNCTION_LIST **out) {
            void *library = dlopen("\(SoftHSM.library)", RTLD_NOW | RTLD_LOCAL);
            CK_C_GetFunctionList get = (CK_C_GetFunctionList)dlsym(library, "C_GetFunctionList");
            if (get(&real) != CKR_OK) return CKR_GENERAL_ERROR;
            list = *real;
            list.C_SignInit = sign_init; list.C_Sign = sign; list.C_OpenSession = open_session; list.C_Login = login;
            list.C_GetAttributeValue = attributes; list.C_FindObjects = find; list.C_GetSlotList = slots;
            list.C_GetTokenInfo = token; list.C_Decrypt = decrypt; list.C_Finalize = finalize;
        #ifdef WITHOUT_SIGN
            list.C_Sign = 0;
        #endif
        #ifdef USED_FIRST
            list.C_Initialize = first;
        #endif
        #ifdef WITHOUT_LOCKS
            list.C_Initialize = initialize;
        #endif
        #ifdef OF_VERSION_1
            list.version.major = 1;
        #endif
            *out = &list;
            return CKR_OK;
        }
        """
}
