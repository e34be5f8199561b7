/// One thing wrong with a configuration document.
public struct ConfigurationFault: Sendable, Equatable {
    /// Where, as in `oauth.client.client_ids[0].client_id`.
    public let path: String
    /// What, as in `is missing`: continues a sentence that begins with the path.
    public let fault: String
    /// What to write instead.
    public let fix: String

    public init(path: String, fault: String, fix: String) {
        self.path = path
        self.fault = fault
        self.fix = fix
    }
}
