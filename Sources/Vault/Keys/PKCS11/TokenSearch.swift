import CPKCS11

/// Finds the tokens that are there now.
extension TokenFunctions {
    /// The largest number of slots that a module may have.
    static let slotLimit = 64

    /// The one token that fits.
    ///
    /// - Throws: ``TokenError/noToken(uri:)``, ``TokenError/severalTokens(uri:count:)``
    func token(_ uri: TokenURI) throws(VaultError) -> TokenDescription {
        let wanted = uri.ofToken
        let (tokens, fault) = try fitsLibrary(wanted) ? try tokens() : ([], nil)
        let found = tokens.filter { wanted.fits($0) }
        guard let token = found.first else { throw fault ?? .token(.noToken(uri: wanted.description)) }
        guard found.count == 1 else { throw .token(.severalTokens(uri: wanted.description, count: found.count)) }
        return token
    }

    func description(ofTokenIn slot: CK_SLOT_ID) throws(VaultError) -> TokenDescription {
        var info = CK_TOKEN_INFO()
        try check("describe the token", list.C_GetTokenInfo(slot, &info))
        return TokenDescription(info, slot: slot)
    }

    private func fitsLibrary(_ uri: TokenURI) throws(VaultError) -> Bool {
        var info = CK_INFO()
        try check("describe itself", list.C_GetInfo(&info))
        return uri.fits(LibraryDescription(info))
    }

    /// The tokens that describe themselves, and the error of one that does not, which hides no other.
    private func tokens() throws(VaultError) -> ([TokenDescription], VaultError?) {
        var (tokens, fault): ([TokenDescription], VaultError?) = ([], nil)
        for slot in try slots() {
            var info = CK_TOKEN_INFO()
            let code = list.C_GetTokenInfo(slot, &info)
            guard code == CKR_OK else {
                // One that was just taken out, or is of a kind that the module does not know, is no token.
                if code != CKR_TOKEN_NOT_PRESENT, code != CKR_TOKEN_NOT_RECOGNIZED {
                    fault = .token(.refused(operation: "describe a token", code: code))
                }
                continue
            }
            let token = TokenDescription(info, slot: slot)
            if token.isInitialized { tokens.append(token) }
        }
        return (tokens, fault)
    }

    private func slots() throws(VaultError) -> [CK_SLOT_ID] {
        let operation = "list its slots"
        // A module looks for new tokens when it is asked for their number only (PKCS#11 2.40 section 5.5).
        var count: CK_ULONG = 0
        try check(operation, list.C_GetSlotList(CK_BBOOL(CK_TRUE), nil, &count))
        var slots = [CK_SLOT_ID](repeating: 0, count: Self.slotLimit)
        count = CK_ULONG(slots.count)
        let code = list.C_GetSlotList(CK_BBOOL(CK_TRUE), &slots, &count)
        guard code != CKR_BUFFER_TOO_SMALL, count <= slots.count else {
            throw .token(.unusableAnswer(operation: operation, reason: "it has more than \(Self.slotLimit) of them"))
        }
        try check(operation, code)
        return Array(slots.prefix(Int(count)))
    }
}
