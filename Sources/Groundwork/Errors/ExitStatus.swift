/// The exit statuses for scripts (`sysexits.h`).
public enum ExitStatus: Int32, Sendable {
    /// The answer is no: something is missing, or does not allow it.
    case failure = 1
    case usage = 64
    case input = 65
    case unavailable = 69
    case temporary = 75
    case refused = 76
    case noPermission = 77
    case configuration = 78
}
