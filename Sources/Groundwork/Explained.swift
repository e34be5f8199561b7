/// An error that a person can act on.
///
/// Every room has one error type that conforms. The command prints ``message`` and ``remedy``, `--json` prints all
/// three, and nothing secret may be in any of them.
public protocol Explained: Error, CustomStringConvertible {
    /// Stable and for programs: `room.what-happened`, lower case.
    var code: String { get }
    /// One line that names the operation and the path or host it failed on.
    var message: String { get }
    /// What to do about it, where there is something to do.
    var remedy: String? { get }
}

extension Explained {
    public var remedy: String? { nil }
    public var description: String { message }
}
