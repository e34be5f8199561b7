/// Why a request was refused (Bluetooth Core, Vol 3 Part F 3.4.1.1). Codes of later versions and of applications are
/// kept as they are.
public struct ATTErrorCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let invalidHandle = Self(rawValue: 0x01)
    public static let readNotPermitted = Self(rawValue: 0x02)
    public static let writeNotPermitted = Self(rawValue: 0x03)
    public static let invalidPDU = Self(rawValue: 0x04)
    public static let insufficientAuthentication = Self(rawValue: 0x05)
    public static let requestNotSupported = Self(rawValue: 0x06)
    public static let invalidOffset = Self(rawValue: 0x07)
    public static let insufficientAuthorization = Self(rawValue: 0x08)
    public static let prepareQueueFull = Self(rawValue: 0x09)
    public static let attributeNotFound = Self(rawValue: 0x0A)
    public static let attributeNotLong = Self(rawValue: 0x0B)
    public static let encryptionKeyTooShort = Self(rawValue: 0x0C)
    public static let invalidValueLength = Self(rawValue: 0x0D)
    public static let insufficientEncryption = Self(rawValue: 0x0F)
    public static let unsupportedGroupType = Self(rawValue: 0x10)
    public static let valueNotAllowed = Self(rawValue: 0x13)

    /// Whether pairing or encryption is missing.
    var concernsSecurity: Bool {
        [.insufficientAuthentication, .insufficientAuthorization, .encryptionKeyTooShort, .insufficientEncryption]
            .contains(self)
    }

    public var description: String {
        switch self {
        case .invalidHandle: "no such attribute"
        case .readNotPermitted: "reading is not permitted"
        case .writeNotPermitted: "writing is not permitted"
        case .invalidPDU: "the packet is malformed"
        case .insufficientAuthentication: "the devices are not paired"
        case .requestNotSupported: "the request is not supported"
        case .invalidOffset: "the offset is beyond the value"
        case .insufficientAuthorization: "not authorized"
        case .prepareQueueFull: "too many prepared writes"
        case .attributeNotFound: "nothing was found"
        case .attributeNotLong: "the attribute is not long"
        case .encryptionKeyTooShort: "the encryption key is too short"
        case .invalidValueLength: "the value has a wrong length"
        case .insufficientEncryption: "the connection is not encrypted"
        case .unsupportedGroupType: "attributes of this type have no groups"
        case .valueNotAllowed: "the value is not allowed"
        default: "error 0x" + (rawValue < 16 ? "0" : "") + String(rawValue, radix: 16)
        }
    }
}
