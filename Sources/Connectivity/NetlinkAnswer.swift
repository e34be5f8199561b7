/// The kernel's answers to questions about links, addresses and routes, read strictly (netlink(7), rtnetlink(7)).
///
/// A pure reader of bytes: records of other kinds are skipped, and those shorter than they claim are refused.
struct NetlinkAnswer: Equatable {
    /// The most links, addresses and default routes that are kept; a board has a few.
    static let limit = 256

    private(set) var snapshot = NetworkSnapshot()
    /// Whether the last question was answered to its end.
    private(set) var isComplete = false
    /// Whether something changed while the kernel was answering, so that the answer may be inconsistent.
    private(set) var wasInterrupted = false
    /// Why the kernel does not answer; 0 while it does.
    private(set) var errorNumber: Int32 = 0

    mutating func beginQuestion() { isComplete = false }

    /// Reads what the kernel sent at once: any number of messages.
    ///
    /// - Parameter sequence: the number of the question; messages with another one are skipped.
    /// - Returns: whether it is well-formed. Otherwise nothing more may be concluded from it.
    mutating func read(_ bytes: some Collection<UInt8>, sequence: UInt32) -> Bool {
        var rest = NetlinkBytes(bytes)
        while !rest.isEmpty {
            guard var message = rest.piece(lengthSize: 4, headerSize: 16), let type = message.uint16(),
                let flags = message.uint16(), let number = message.uint32(), message.skip(4)
            else { return false }
            guard number == sequence else { continue }
            if flags & 0x10 != 0 { wasInterrupted = true }  // NLM_F_DUMP_INTR
            switch type {
            case 2:  // NLMSG_ERROR
                guard let code = message.uint32() else { return false }
                errorNumber = Int32(truncatingIfNeeded: 0 &- Int64(Int32(bitPattern: code)))
                isComplete = true
            case 3: isComplete = true  // NLMSG_DONE
            case 16: guard readLink(message) else { return false }  // RTM_NEWLINK
            case 20: guard readAddress(message) else { return false }  // RTM_NEWADDR
            case 24: guard readRoute(message) else { return false }  // RTM_NEWROUTE
            default: break
            }
        }
        return true
    }

    /// struct ifinfomsg: family, type, index, flags, change.
    private mutating func readLink(_ message: NetlinkBytes) -> Bool {
        var message = message
        guard let family = message.uint8(), message.skip(1), let type = message.uint16(), let index = message.uint32(),
            let flags = message.uint32(), message.skip(4)
        else { return false }
        var name: String?
        while !message.isEmpty {
            guard let (attribute, value) = message.attribute() else { return false }
            guard attribute == 3 else { continue }  // IFLA_IFNAME
            guard let text = Self.name(value) else { return false }
            name = text
        }
        // Of another family are messages about a bridge's ports.
        guard family == 0, let name, snapshot.links.count < Self.limit else { return true }
        // IFF_UP and IFF_RUNNING.
        snapshot.links.append(
            .init(index: Int32(bitPattern: index), name: name, type: type, isRunning: flags & 0x41 == 0x41))
        return true
    }

    /// A text that ends with NUL, as the kernel allows it for a link: it is a file name too.
    private static func name(_ bytes: ArraySlice<UInt8>) -> String? {
        guard (2...16).contains(bytes.count), bytes.last == 0, !bytes.dropLast().contains(0),
            let text = String(validating: bytes.dropLast(), as: UTF8.self), !text.contains("/"), text != ".",
            text != ".."
        else { return nil }
        return text
    }

    /// struct ifaddrmsg: family, prefix length, flags, scope, index.
    private mutating func readAddress(_ message: NetlinkBytes) -> Bool {
        var message = message
        guard let family = message.uint8(), message.skip(1), let oldFlags = message.uint8(),
            let scope = message.uint8(),
            let index = message.uint32()
        else { return false }
        var (peer, own, flags) = (ArraySlice<UInt8>?.none, ArraySlice<UInt8>?.none, UInt32(oldFlags))
        while !message.isEmpty {
            guard let (attribute, value) = message.attribute() else { return false }
            switch attribute {
            case 1: peer = value  // IFA_ADDRESS, the other end's where there is one
            case 2: own = value  // IFA_LOCAL
            case 8:  // IFA_FLAGS
                var value = NetlinkBytes(value)
                guard let all = value.uint32(), value.isEmpty else { return false }
                flags = all
            default: break
            }
        }
        guard let size = Self.addressSize(family) else { return true }
        guard let bytes = own ?? peer, bytes.count == size else { return false }
        // IFA_F_TENTATIVE without IFA_F_OPTIMISTIC, and IFA_F_DADFAILED: not to be used. Scopes from RT_SCOPE_LINK on
        // do not reach beyond the link.
        let isUsable = (flags & 0x40 == 0 || flags & 0x04 != 0) && flags & 0x08 == 0
        guard snapshot.addresses.count < Self.limit else { return true }
        snapshot.addresses.append(
            .init(index: Int32(bitPattern: index), bytes: Array(bytes), isGlobal: isUsable && scope < 253))
        return true
    }

    /// struct rtmsg: family, lengths, table, protocol, scope, type, flags.
    private mutating func readRoute(_ message: NetlinkBytes) -> Bool {
        var message = message
        guard let family = message.uint8(), let length = message.uint8(), message.skip(5), let type = message.uint8(),
            let flags = message.uint32()
        else { return false }
        // RTN_UNICAST, and not RTM_F_CLONED.
        guard length == 0, type == 1, flags & 0x200 == 0, Self.addressSize(family) != nil else { return true }
        var (index, priority) = (UInt32?.none, UInt32(0))
        while !message.isEmpty {
            guard let (attribute, value) = message.attribute() else { return false }
            var content = NetlinkBytes(value)
            switch attribute {
            case 4:  // RTA_OIF
                guard let number = content.uint32(), content.isEmpty else { return false }
                index = number
            case 6:  // RTA_PRIORITY
                guard let number = content.uint32(), content.isEmpty else { return false }
                priority = number
            case 9:  // RTA_MULTIPATH, whose first hop counts: struct rtnexthop
                guard var hop = content.piece(lengthSize: 2, headerSize: 8), hop.skip(2), let number = hop.uint32()
                else { return false }
                index = index ?? number
            default: break
            }
        }
        guard let index, snapshot.routes.count < Self.limit else { return true }
        snapshot.routes.append(
            .init(isIPv6: family == 10, index: Int32(bitPattern: index), priority: priority))
        return true
    }

    /// The length of an address of AF_INET or AF_INET6; `nil` for other families.
    private static func addressSize(_ family: UInt8) -> Int? { family == 2 ? 4 : family == 10 ? 16 : nil }
}

/// Bytes of a netlink message, read from the front; numbers are in the machine's order.
struct NetlinkBytes {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) { self.bytes = ArraySlice(bytes) }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func skip(_ count: Int) -> Bool {
        guard bytes.count >= count else { return false }
        bytes = bytes.dropFirst(count)
        return true
    }

    mutating func uint8() -> UInt8? { bytes.popFirst() }
    mutating func uint16() -> UInt16? { number(2).map { UInt16(truncatingIfNeeded: $0) } }
    mutating func uint32() -> UInt32? { number(4) }

    private mutating func number(_ size: Int) -> UInt32? {
        guard bytes.count >= size else { return nil }
        var value: UInt32 = 0
        for (place, byte) in bytes.prefix(size).enumerated() {
            #if _endian(little)
            value |= UInt32(byte) << (8 * place)
            #else
            value = value << 8 | UInt32(byte)
            #endif
        }
        bytes = bytes.dropFirst(size)
        return value
    }

    /// Takes what begins with its own length, and what fills it up to four bytes.
    ///
    /// - Returns: what follows the length.
    mutating func piece(lengthSize: Int, headerSize: Int) -> NetlinkBytes? {
        let all = bytes
        guard let length = number(lengthSize).map(Int.init), length >= headerSize, length <= all.count else {
            return nil
        }
        bytes = all.dropFirst(min((length + 3) / 4 * 4, all.count))
        return NetlinkBytes(all.prefix(length).dropFirst(lengthSize))
    }

    /// Takes an attribute: struct rtattr and its content.
    mutating func attribute() -> (type: UInt16, value: ArraySlice<UInt8>)? {
        guard var content = piece(lengthSize: 2, headerSize: 4), let type = content.uint16() else { return nil }
        // Without NLA_F_NESTED and NLA_F_NET_BYTEORDER.
        return (type & 0x3FFF, content.bytes)
    }
}
