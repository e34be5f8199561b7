public import Groundwork

/// Errors of a directory's users and groups, apart from what its server refuses.
public enum DirectoryError: Explained, Equatable {
    case answerInvalid(DirectoryOperation, reason: String)
    case filterInvalid(reason: String)
    case queryInvalid(reason: String)
    case userUnknown(name: String)
    case groupUnknown(name: String)
    /// The group has no such member.
    case memberUnknown(name: String, group: String)
    case photoAbsent(user: String)

    public var explanation: Explanation {
        switch self {
        case .answerInvalid(let operation, let reason):
            Explanation(
                "services.answer-invalid", .invalidAnswer,
                "cannot \(operation.rawValue): the service's answer is not valid: \(reason)",
                remedy: "report it to the directory's administrator", gateway: .local(100_407))
        case .filterInvalid(let reason):
            Explanation(
                "services.filter-invalid", .invalidInput, "the filter is not valid: \(reason)",
                remedy: #"write it as in: userName sw "a" and active eq true"#, gateway: .local(100_206))
        case .queryInvalid(let reason):
            Explanation(
                "services.query-invalid", .invalidInput, "this cannot be requested: \(reason)",
                gateway: .local(100_205))
        case .userUnknown(let name):
            Explanation(
                "services.user-unknown", .notFound, "the directory has no user \(name)",
                remedy: "list the users: latchkey users list", gateway: .local(130_003))
        case .groupUnknown(let name):
            Explanation(
                "services.group-unknown", .notFound, "the directory has no group \(name)",
                remedy: "list the groups: latchkey groups list")
        case .memberUnknown(let name, let group):
            Explanation(
                "services.member-unknown", .notFound, "\(name) is not a member of the group \(group)",
                remedy: "list its members: latchkey groups show")
        case .photoAbsent(let user):
            Explanation("services.photo-absent", .notFound, "the user \(user) has no picture")
        }
    }

    public static let examples: [DirectoryError] = [
        .answerInvalid(.readUsers, reason: "REASON"), .filterInvalid(reason: "REASON"),
        .queryInvalid(reason: "REASON"), .userUnknown(name: "NAME"), .groupUnknown(name: "NAME"),
        .memberUnknown(name: "NAME", group: "GROUP"), .photoAbsent(user: "NAME"),
    ]
}
