import AgentCore

/// Fails when a library that is loaded with its first use cannot be used.
package struct LibrariesCheck: InstallationCheck {
    package static let name = "libraries"

    package func run(_ installation: Installation) -> Verdict? {
        guard let first = installation.libraryFaults.first else {
            return .pass("libcurl and libmicrohttpd can be used")
        }
        return .fail(first, remedy: "install the Debian packages libcurl4 and libmicrohttpd12, or their successors")
    }
}
