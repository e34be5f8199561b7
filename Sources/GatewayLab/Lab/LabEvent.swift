import Foundation

/// An event of the lab, for its page, its log and the tests.
public struct LabEvent: Sendable, Equatable, Codable {
    public enum Kind: String, Sendable, Codable {
        case request, enrollment, device, token, session, broker, fault, lab
    }

    /// Counts up from 1 since the lab started.
    public var number: Int
    public var time: Date
    public var kind: Kind
    public var endpoint: Endpoint?
    /// HTTP status of the answer; `nil` for a dropped connection and for events that are not requests.
    public var status: Int?
    /// The `x-ca-err` of the answer.
    public var errorCode: Int?
    /// The device it concerns.
    public var magIdentifier: String?
    /// One line for people; never a token, secret or password.
    public var text: String
}

/// A message that the broker passed on.
public struct LabMessage: Sendable, Equatable, Codable {
    public var time: Date
    /// MQTT client id of the sender.
    public var sender: String
    public var topic: String
    /// 0, 1 or 2.
    public var qos: Int
    public var retained: Bool
    /// Bytes of the whole payload.
    public var size: Int
    /// The first 1024 bytes.
    public var payload: [UInt8]
}
