import Groundwork

/// What an address below that of SCIM names (RFC 7644 section 3.2).
enum SCIMPlace: Equatable {
    case users
    case user(String)
    case groups
    case group(String)
    /// `nil` searches all resources.
    case search(of: Kind?)
    case description(SCIMDescription)
    /// What the standard has and the lab does not (RFC 7644 sections 3.7 and 3.11).
    case unsupported

    enum Kind { case users, groups }

    init?(_ segments: [String]) {
        switch (segments.first, segments.dropFirst().first, segments.count) {
        case (".search", _, 1): self = .search(of: nil)
        case ("Users", ".search", 2): self = .search(of: .users)
        case ("Groups", ".search", 2): self = .search(of: .groups)
        case ("Users", nil, 1): self = .users
        case ("Users", let id?, 2): self = .user(id)
        case ("Groups", nil, 1): self = .groups
        case ("Groups", let id?, 2): self = .group(id)
        case ("Bulk", nil, 1), ("Me", nil, 1): self = .unsupported
        default:
            guard let description = SCIMDescription(segments) else { return nil }
            self = .description(description)
        }
    }

    var methods: [String] {
        switch self {
        case .users, .groups: ["GET", "POST"]
        case .user, .group: ["GET", "PUT", "DELETE"]
        case .search: ["POST"]
        case .description: ["GET"]
        case .unsupported: []
        }
    }
}
