import Groundwork

/// A wrong answer of the M-Pin back end or of a D-TA, on request: about the member that the endpoint is for.
public enum MPinLie: String, Sendable, CaseIterable {
    case otherUser = "other-user"
    case otherSecret = "other-secret"
    case opposite
    case short, long
    case offCurve = "off-curve"
    case infinity, compressed
    case notHex = "not-hex"
    case empty, missing
    case wrongType = "wrong-type"
    case unreduced
    case notJSON = "not-json"
    case notObject = "not-object"
    case blank

    /// What it does, for messages.
    public var summary: String {
        switch self {
        case .otherUser: "answers for another user"
        case .otherSecret: "uses another master secret"
        case .opposite: "sends a share whose sum with the other one is infinity"
        case .short: "leaves out the last byte"
        case .long: "adds a byte"
        case .offCurve: "sends a point that is not on the curve"
        case .infinity: "sends the point at infinity"
        case .compressed: "sends a point in the compressed form"
        case .notHex: "sends text that is not hexadecimal"
        case .empty: "sends an empty text"
        case .missing: "leaves the member out"
        case .wrongType: "sends a number in place of a text"
        case .unreduced: "adds the order of the group (M9)"
        case .notJSON: "answers an HTML page"
        case .notObject: "answers a list"
        case .blank: "answers white space"
        }
    }

    /// Changes an answer whose ``Endpoint/mpinMember`` is to be wrong.
    func change(_ answer: inout WireResponse, at endpoint: Endpoint) {
        switch self {
        case .notJSON: answer.body = Array("<!DOCTYPE html><title>Error</title>".utf8)
        case .notObject: answer.body = Array("[1]".utf8)
        case .blank: answer.body = Array(" \r\n".utf8)
        default:
            if endpoint == .mpinStorage {
                let text = changed(String(decoding: answer.body, as: UTF8.self).trimmed)?.string ?? ""
                answer.body = Array(text.utf8)
            } else if let name = endpoint.mpinMember, var members = (try? JSON(parsing: answer.body))?.object,
                let text = members[name]?.string
            {
                members[name] = changed(text)
                answer.body = JSON.object(members).bytes
            }
        }
    }

    /// - Returns: `nil` to leave it out.
    private func changed(_ text: String) -> JSON? {
        switch self {
        case .short: .string(String(text.dropLast(2)))
        case .long: .string(text + "00")
        case .offCurve:
            // The other Y of this X is p - Y, which differs from Y in its last bit, as p is odd, but never in it alone.
            .string(Hex.encode(Self.flippingLastBit(Hex.decode(text) ?? [])))
        case .infinity: "00"
        case .compressed: .string("02" + text.dropFirst(2).prefix(64))
        case .notHex: .string(String(repeating: "z", count: text.count))
        case .empty: ""
        case .missing: nil
        case .wrongType: 7
        case .unreduced: .string(Hex.encode(MPinNumber.addingOrder(to: Hex.decode(text) ?? [])))
        case .otherUser, .otherSecret, .opposite, .notJSON, .notObject, .blank: .string(text)
        }
    }

    private static func flippingLastBit(_ bytes: [UInt8]) -> [UInt8] {
        guard let last = bytes.last else { return bytes }
        return bytes.dropLast() + [last ^ 1]
    }
}

extension Endpoint {
    /// What its answer is for.
    var mpinMember: String? {
        switch self {
        case .mpinService: "type"
        case .mpinSettings: "registerURL"
        case .mpinUser: "mpinId"
        case .mpinSignature: "clientSecretShare"
        case .mpinSecret: "clientSecret"
        case .mpinPermit, .mpinPermitShare: "timePermit"
        case .mpinPassOne: "y"
        case .mpinPassTwo: "authOTT"
        case .mpinVerdict: "code"
        case .mpinMobileVerdict: "logoutURL"
        default: nil
        }
    }
}
