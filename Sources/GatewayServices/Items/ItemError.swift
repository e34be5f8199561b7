public import Groundwork

/// Errors of items that are stored under a key, here or at the gateway (MAG 11).
///
/// The numbers are those of the public clients.
public enum ItemError: Explained, Equatable {
    /// What was done with the vault when it failed.
    public enum Step: String, Sendable, CaseIterable {
        case save, load, open, delete, find
        case deleteAll = "delete all"

        fileprivate var number: Int {
            switch self {
            case .save: 101
            case .load: 102
            case .open: 103
            case .delete: 104
            case .deleteAll: 105
            case .find: 106
            }
        }
    }

    case localDisabled
    case keyMissing
    case keyInvalid(reason: String)
    case typeInvalid
    case valueTooLarge(bytes: Int, limit: Int)
    /// The segment exists at the gateway only.
    case segmentInvalid
    case absent(key: String)
    case full(limit: Int)
    case passwordMissing
    case passwordRequired(key: String)
    case passwordWrong(key: String)
    case damaged(key: String)
    /// Another board has sealed the value at the gateway, or this one with a key that it no longer has.
    case sealedElsewhere(key: String)
    /// A value that this board has sealed was changed at the gateway, or moved there to another key.
    case sealBroken(key: String)
    /// The value at the gateway is not sealed, and the caller wants no other.
    case notSealed(key: String)
    case locked
    case vaultFailed(Step, code: String, reason: String)
    /// The gateway's configuration has no path of a storage.
    case endpointMissing
    case answerInvalid(reason: String)

    public var explanation: Explanation {
        switch self {
        case .localDisabled:
            Explanation(
                "items.local-disabled", .configuration, "local storage is not enabled on this board",
                remedy: "set local = true in [storage] of the settings, and restart the agent",
                gateway: GatewayNumbers(.storage, 331_001))
        case .keyMissing:
            Explanation(
                "items.key-missing", .invalidInput, "the key is empty", remedy: "name the item",
                gateway: GatewayNumbers(.storage, 300_002))
        case .keyInvalid(let reason):
            Explanation(
                "items.key-invalid", .invalidInput, "this cannot be a key: \(reason)",
                remedy: "use letters, digits and -, \\, . and _ for items on this board",
                gateway: GatewayNumbers(.storage, 300_002))
        case .typeInvalid:
            Explanation(
                "items.type-invalid", .invalidInput, "this is not a valid type of an item",
                remedy: "give a media type, such as text/plain", gateway: GatewayNumbers(.storage, 300_001))
        case .valueTooLarge(let bytes, let limit):
            Explanation(
                "items.value-too-large", .tooLarge, "the value has \(bytes) bytes, more than the \(limit) allowed",
                gateway: GatewayNumbers(.storage, 300_001))
        case .segmentInvalid:
            Explanation(
                "items.segment-invalid", .invalidInput,
                "items of a user beyond this application are stored at the gateway only",
                remedy: "use the segment application or application-user, or the gateway's storage",
                gateway: GatewayNumbers(.storage, 300_001))
        case .absent(let key):
            Explanation(
                "items.not-found", .notFound, "there is no item \(key)",
                gateway: GatewayNumbers(.storage, 106))
        case .full(let limit):
            Explanation(
                "items.full", .full, "this account already has \(limit) items on this board, the maximum",
                remedy: "delete some: latchkey storage delete KEY", gateway: GatewayNumbers(.storage, 101))
        case .passwordMissing:
            Explanation(
                "items.password-missing", .invalidInput, "the password is empty",
                gateway: GatewayNumbers(.storage, 300_002))
        case .passwordRequired(let key):
            Explanation(
                "items.password-required", .invalidInput, "the item \(key) is encrypted with a password",
                remedy: "latchkey storage find asks for it with: --password",
                gateway: GatewayNumbers(.storage, 102))
        case .passwordWrong(let key):
            Explanation(
                "items.password-wrong", .permission, "wrong password for the item \(key)",
                gateway: GatewayNumbers(.storage, 102))
        case .damaged(let key):
            Explanation(
                "items.damaged", .damaged, "the item \(key) is not readable",
                remedy: "delete it: latchkey storage delete KEY", gateway: GatewayNumbers(.storage, 102))
        case .sealedElsewhere(let key):
            Explanation(
                "items.sealed-elsewhere", .conflict, "the item \(key) was sealed by another board",
                remedy: "read it at that board, and save it there without --sealed to share it",
                meaning:
                    "only the board that sealed a value at the gateway has the key to it, and not after its account "
                    + "was removed")
        case .sealBroken(let key):
            Explanation(
                "items.seal-broken", .damaged,
                "the item \(key) differs from what this board sealed: it was changed at the gateway, or moved there",
                remedy: "save it again, and find out who else writes to the gateway's storage")
        case .notSealed(let key):
            Explanation(
                "items.not-sealed", .damaged, "the item \(key) is not sealed",
                remedy: "find out who stored it; to read it anyway, leave out --sealed")
        case .locked:
            Explanation(
                "items.locked", .conflict, "the vault is locked, and so are the items of this board",
                remedy: "unlock it first", gateway: GatewayNumbers(.storage, 108))
        case .vaultFailed(let step, let code, let reason):
            Explanation(
                "items.vault-failed", .unavailable, "cannot \(step.rawValue): \(reason)",
                remedy: "see what is wrong with the vault: latchkey doctor",
                meaning: "the vault, which holds the items of this board, could not be read or written", cause: code,
                gateway: GatewayNumbers(.storage, step.number))
        case .endpointMissing:
            Explanation(
                "items.endpoint-missing", .invalidConfiguration,
                "the gateway's configuration has no path of its storage",
                remedy: "ask the gateway's administrator for mas.mas-storage-path, and enroll again",
                gateway: GatewayNumbers(.storage, 300_003))
        case .answerInvalid(let reason):
            Explanation(
                "items.answer-invalid", .invalidAnswer, "the answer of the gateway's storage is not valid: \(reason)",
                remedy: "report it to the gateway's administrator", gateway: .local(100_407))
        }
    }

    public static let examples: [ItemError] =
        [
            .localDisabled, .keyMissing, .keyInvalid(reason: "REASON"), .typeInvalid,
            .valueTooLarge(bytes: 70_000, limit: 65_536), .segmentInvalid, .absent(key: "KEY"), .full(limit: 256),
            .passwordMissing, .passwordRequired(key: "KEY"), .passwordWrong(key: "KEY"), .damaged(key: "KEY"),
            .sealedElsewhere(key: "KEY"), .sealBroken(key: "KEY"), .notSealed(key: "KEY"), .locked,
            .endpointMissing, .answerInvalid(reason: "REASON"),
        ] + Step.allCases.map { .vaultFailed($0, code: "CODE", reason: "REASON") }
}

/// What happened to an item that is stored under a key.
public enum ItemEvent: Sendable, Equatable {
    public enum Place: String, Sendable, CaseIterable { case local, cloud }

    case didSave(Place, ItemSegment, key: String)
    /// `nil` for all of the segment.
    case didDelete(Place, ItemSegment, key: String?)
}

extension ItemEvent: ReportedEvent {
    public static let meanings = [
        "items.did-delete": "items were deleted, on this board or at the gateway",
        "items.did-save": "an item was stored under a key, on this board or at the gateway",
    ]

    public static var details: [String: Schema] {
        [
            "place": .string("where it is stored", choices: Place.allCases.map(\.rawValue)),
            "segment": .string("owner of the item", choices: ItemSegment.allCases.map(\.rawValue)),
            "key": .string("key of the item; missing if all of the segment were deleted"),
        ]
    }

    public var report: EventReport {
        switch self {
        case .didSave(let place, let segment, let key):
            EventReport("items.did-save", .routine, "\(key) was saved", Self.fields(place, segment, key))
        case .didDelete(let place, let segment, let key):
            EventReport(
                "items.did-delete", .routine, key.map { "\($0) was deleted" } ?? "all items were deleted",
                Self.fields(place, segment, key))
        }
    }

    private static func fields(_ place: Place, _ segment: ItemSegment, _ key: String?) -> [String: JSON] {
        var fields: [String: JSON] = ["place": .string(place.rawValue), "segment": .string(segment.rawValue)]
        fields["key"] = key.map(JSON.string)
        return fields
    }
}
