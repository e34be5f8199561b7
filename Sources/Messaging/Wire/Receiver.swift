/// Who a message in an envelope is for (MAG 9.2).
public enum Receiver: Sendable, Equatable {
    /// A user, within this application.
    case user(String)
    /// A user, in whichever application.
    case userAcrossApplications(String)
    case device(String)
    /// A group. If its members are known, each gets the message at the user's own topic; otherwise it goes to the
    /// group's.
    case group(String, members: [String])
    /// All clients of the application with this client identifier, which is this one's.
    case application(String)

    /// Its identifier.
    public var id: String {
        switch self {
        case .user(let id), .userAcrossApplications(let id), .device(let id), .group(let id, _), .application(let id):
            id
        }
    }
}
