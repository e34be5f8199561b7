import Groundwork

/// The version of this program.
package enum Version {
    /// Semantic version (semver.org).
    package static let text = Release.version
}
