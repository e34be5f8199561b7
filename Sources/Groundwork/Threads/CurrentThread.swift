import CLinux

/// The thread that runs the caller.
public enum CurrentThread {
    /// - Parameter name: at most 15 bytes, because Linux stores no more (`PR_SET_NAME`, prctl(2)).
    public static func setName(_ name: String) {
        // Fails only for an invalid address.
        _ = latchkey_name_thread(name)
    }
}
