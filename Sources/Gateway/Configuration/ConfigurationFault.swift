/// One thing wrong with a configuration document.
public struct ConfigurationFault: Sendable, Equatable {
    /// The key path, such as `oauth.client.client_ids[0].client_id`.
    public let path: String
    /// The predicate of a sentence that begins with the path, such as `is missing`.
    public let fault: String
    /// What to write instead.
    public let fix: String

    public init(path: String, fault: String, fix: String) {
        self.path = path
        self.fault = fault
        self.fix = fix
    }
}
