/// The release; all programs of the repository have the same version.
public enum Release {
    /// Semantic version (semver.org).
    public static let version = "0.1.0"
}
