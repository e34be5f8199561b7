import HTTPClient

extension SecretEchoes {
    /// The secret fields of the OAuth family: the fields of RFC 6749, 7009, 7521, 7636, 8628 and 8693, and
    /// `Authorization`.
    public static let oauth = SecretEchoes(
        fields: [
            "password", "client_secret", "client_assertion", "refresh_token", "assertion", "code", "code_verifier",
            "token", "access_token", "id_token", "id_token_hint", "device_code", "subject_token", "actor_token",
        ],
        headers: ["authorization"])

    /// These with a server's own fields and headers added; headers in lower case.
    public func with(fields more: Set<String>, headers others: Set<String>) -> SecretEchoes {
        SecretEchoes(fields: fields.union(more), headers: headers.union(others))
    }
}
