import CLinux

/// Memory that only the start of the agent needs.
enum Memory {
    /// Gives back the pages of program text and constants that are mapped now; those still in use come back from the
    /// page cache, each at the cost of a minor fault.
    ///
    /// Registration, key generation and the first handshakes touch most of OpenSSL, libcurl and the program itself
    /// once. On a board of 512 MB, pages that never run again should not count as the agent's.
    static func releaseStartPages() { latchkey_release_constants() }
}
