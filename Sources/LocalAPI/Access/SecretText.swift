/// Comparing what a client sent with a secret.
enum SecretText {
    /// Whether two texts are the same; the time that it takes does not show where they differ, only whether their
    /// lengths do.
    static func isSame(_ secret: String, _ other: String) -> Bool {
        let (own, given) = (Array(secret.utf8), Array(other.utf8))
        guard own.count == given.count else { return false }
        return zip(own, given).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
