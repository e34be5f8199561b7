import HTTPClient

extension SecretEchoes {
    /// What the OAuth family calls secret: the fields of RFC 6749, 7009, 7521, 7636, 8628 and 8693, and
    /// `Authorization`.
    public static let oauth = SecretEchoes(
        fields: [
            "password", "client_secret", "client_assertion", "refresh_token", "assertion", "code", "code_verifier",
            "token", "access_token", "id_token", "id_token_hint", "device_code", "subject_token", "actor_token",
        ],
        headers: ["authorization"])

    /// With fields and headers of a server's own; headers in lower case.
    public func with(fields more: Set<String>, headers others: Set<String>) -> SecretEchoes {
        SecretEchoes(fields: fields.union(more), headers: headers.union(others))
    }
}
