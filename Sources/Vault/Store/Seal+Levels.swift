import Cryptography

/// The data key of a level that is open.
struct LevelKey {
    let id: Int64
    let key: SecretBytes
}

/// Data keys behind the passcode: wrapped by the passcode's key, and the result by the root key, so that both are
/// needed.
extension Seal {
    func wrap(
        _ dataKey: SecretBytes, id: Int64, _ level: ProtectionLevel, passcodeKey: SecretBytes
    ) throws -> [UInt8] {
        let inner = try AESGCM.seal(dataKey, key: passcodeKey, authenticating: innerLabel(id, level))
        return try AESGCM.seal(
            SecretBytes(inner), key: wrappingKey(of: level), authenticating: outerLabel(id, level))
    }

    /// - Returns: `nil` for another passcode's key.
    func unwrap(
        _ inner: SecretBytes, id: Int64, _ level: ProtectionLevel, passcodeKey: SecretBytes
    ) throws -> SecretBytes? {
        let key = try AESGCM.openGenuine(
            inner.exposed(), key: passcodeKey, authenticating: innerLabel(id, level))
        return key.flatMap { $0.count == Self.keyBytes ? $0 : nil }
    }

    /// What the root key alone opens: a key that the passcode's key still wraps.
    ///
    /// - Returns: `nil` when the bytes were changed, or wrapped for another place.
    func unwrapOuter(_ wrapped: [UInt8], id: Int64, _ level: ProtectionLevel) throws -> SecretBytes? {
        try AESGCM.openGenuine(wrapped, key: wrappingKey(of: level), authenticating: outerLabel(id, level))
    }

    /// Wraps again what ``unwrapOuter(_:id:_:)`` has opened.
    func wrapOuter(_ inner: SecretBytes, id: Int64, _ level: ProtectionLevel) throws -> [UInt8] {
        try AESGCM.seal(inner, key: wrappingKey(of: level), authenticating: outerLabel(id, level))
    }

    private func innerLabel(_ id: Int64, _ level: ProtectionLevel) -> [UInt8] {
        label(ofKey: id, level, "latchkey key by passcode 1")
    }

    private func outerLabel(_ id: Int64, _ level: ProtectionLevel) -> [UInt8] {
        label(ofKey: id, level, "latchkey key behind passcode 1")
    }
}
