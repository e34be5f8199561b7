import Glibc

/// The text of a connection to a TPM (TCTI): the name of a library of the software stack, and what that is given.
struct ChipPlace {
    let text: String

    init(_ text: String) { self.text = text }

    private var library: Substring { text.prefix { $0 != ":" } }

    /// The path of a device; `nil` for another kind of place.
    private var device: String? {
        guard library == "device" else { return nil }
        let path = text.dropFirst(library.count + 1)
        return path.isEmpty ? "/dev/tpmrm0" : String(path)
    }

    /// Why it could not be opened. The stack says only that it failed.
    func openingError(_ code: ChipCode) -> ChipError {
        // TSS2_TCTI_RC_NOT_SUPPORTED: no such library.
        if code.raw == 0xA0015 { return .libraryMissing(name: "libtss2-tcti-\(library).so.0") }
        guard let device else { return .absent(place: text) }
        let descriptor = open(device, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        if descriptor >= 0 {
            close(descriptor)
            return .absent(place: text)
        }
        switch errno {
        case EACCES, EPERM: return .notPermitted(place: text)
        case EBUSY, EINTR: return .busy(operation: "open it")
        default: return .absent(place: text)
        }
    }
}
