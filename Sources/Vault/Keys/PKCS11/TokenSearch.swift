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
        let found = try fitsLibrary(wanted) ? try tokens().filter { wanted.fits($0) } : []
        guard let token = found.first else { throw .token(.noToken(uri: wanted.description)) }
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

    private func tokens() throws(VaultError) -> [TokenDescription] {
        var tokens: [TokenDescription] = []
        for slot in try slots() {
            var info = CK_TOKEN_INFO()
            let code = list.C_GetTokenInfo(slot, &info)
            // One that was just taken out, or is of a kind that the module does not know, hides no other.
            guard code != CKR_TOKEN_NOT_PRESENT, code != CKR_TOKEN_NOT_RECOGNIZED else { continue }
            try check("describe a token", code)
            let token = TokenDescription(info, slot: slot)
            if token.isInitialized { tokens.append(token) }
        }
        return tokens
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
