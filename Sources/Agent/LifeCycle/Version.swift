import Cryptography
import Groundwork
import HTTPClient
import Messaging
import Storage

/// The version of this program and of its libraries.
public enum Version {
    /// Semantic version (semver.org).
    public static let text = Release.version

    /// The system libraries that it uses, which the distribution keeps up to date.
    public static var libraries: [(name: String, version: String)] {
        [
            ("openssl", Cryptography.libraryVersion), ("curl", HTTPClient.libraryVersion),
            ("mosquitto", Messenger.libraryVersion), ("sqlite", Database.libraryVersion),
        ]
    }
}
