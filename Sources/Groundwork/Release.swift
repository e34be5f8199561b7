/// Which release this is; all programs of the repository have one number.
public enum Release {
    /// Semantic version (semver.org).
    public static let version = "0.1.0"
}
