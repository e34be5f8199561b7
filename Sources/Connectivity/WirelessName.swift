import Glibc
import Groundwork

extension NetworkWay {
    /// The name (SSID) of the wireless network that the link is in, for people; `nil` for other links, without a network,
    /// and where the kernel lacks the call.
    public var wirelessName: String? { kind == .wifi ? Self.wirelessName(of: interface) : nil }

    /// Asks the kernel by `SIOCGIWESSID` (linux/wireless.h), as `/proc/net/wireless` is of the same age.
    static func wirelessName(of interface: String) -> String? {
        let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { return nil }
        defer { close(socket) }
        // A name has at most 32 bytes (IW_ESSID_MAX_SIZE), and some old drivers add a zero.
        var name = [UInt8](repeating: 0, count: 33)
        let count: Int? = name.withUnsafeMutableBytes { name in
            // struct iwreq: the interface in 16 bytes, then a struct iw_point of pointer, length and flags.
            withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { request in
                request.initializeMemory(as: UInt8.self, repeating: 0)
                request.copyBytes(from: interface.utf8.prefix(15))
                let lengthOffset = 16 + MemoryLayout<UnsafeRawPointer>.size
                request.storeBytes(of: name.baseAddress, toByteOffset: 16, as: UnsafeMutableRawPointer?.self)
                request.storeBytes(of: UInt16(name.count), toByteOffset: lengthOffset, as: UInt16.self)
                guard ioctl(socket, 0x8B1B, request.baseAddress!) == 0 else { return nil }
                return min(Int(request.load(fromByteOffset: lengthOffset, as: UInt16.self)), name.count)
            }
        }
        return count.flatMap { text(ofName: name.prefix($0)) }
    }

    /// A name is any bytes.
    static func text(ofName bytes: some Collection<UInt8>) -> String? {
        let text = DisplayText.clean(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
        return text.isEmpty ? nil : text
    }
}
