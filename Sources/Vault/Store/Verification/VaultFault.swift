import Groundwork

/// One thing that is wrong with a vault.
public enum VaultFault: Sendable, Equatable {
    /// The list of records as a whole: none can be read.
    case listDamaged
    /// A part of the list of records; its records cannot be read.
    case pageDamaged(id: Int64)
    /// A part of a list that the list does not have: left over, or put there.
    case pageUnlisted(id: Int64)
    case recordDamaged(RecordName)
    /// The content at a record's place was sealed for another one.
    case recordDisplaced(RecordName)
    case recordRolledBack(RecordName)
    case recordMissing(RecordName)
    /// A record that the list does not have: an earlier one that was put back, or one that was put there.
    case recordUnlisted(RecordName)
    /// Pieces of a value that no record names.
    case pieceUnlisted(RecordName)
    /// It opens the vault no more.
    case slotDamaged(id: Int64)
    case keyDamaged(id: Int64)
    /// Records need a data key that is not there.
    case keyMissing(id: Int64)
    /// A data key that no record needs, such as one of a rekeying that was cut off.
    case keyUnused(id: Int64)

    /// Stable and for programs, such as `record-damaged`.
    public var identifier: String {
        switch self {
        case .listDamaged: "list-damaged"
        case .pageDamaged: "page-damaged"
        case .pageUnlisted: "page-unlisted"
        case .recordDamaged: "record-damaged"
        case .recordDisplaced: "record-displaced"
        case .recordRolledBack: "record-rolled-back"
        case .recordMissing: "record-missing"
        case .recordUnlisted: "record-unlisted"
        case .pieceUnlisted: "piece-unlisted"
        case .slotDamaged: "slot-damaged"
        case .keyDamaged: "key-damaged"
        case .keyMissing: "key-missing"
        case .keyUnused: "key-unused"
        }
    }

    /// What is faulty: the name of a record, or the number of a page, slot or key. Safe to display, whatever the file
    /// has.
    public var name: String {
        switch self {
        case .listDamaged: "list"
        case .pageDamaged(let id), .pageUnlisted(let id), .slotDamaged(let id), .keyDamaged(let id),
            .keyMissing(let id), .keyUnused(let id):
            String(id)
        case .recordDamaged(let name), .recordDisplaced(let name), .recordRolledBack(let name),
            .recordMissing(let name), .recordUnlisted(let name), .pieceUnlisted(let name):
            name.isAllowed ? name.description : DisplayText.clean(name.description)
        }
    }

    /// The error that a reader gets; `nil` for what keeps no record from being read.
    func error(in path: String) -> VaultError? {
        switch self {
        case .listDamaged, .pageDamaged: .manifestDamaged(path: path)
        case .recordDamaged(let name): .recordDamaged(name: name)
        case .recordDisplaced(let name): .recordDisplaced(name: name)
        case .recordRolledBack(let name), .recordUnlisted(let name): .recordRolledBack(name: name)
        case .recordMissing(let name): .recordMissing(name: name)
        case .pageUnlisted, .pieceUnlisted, .slotDamaged, .keyDamaged, .keyMissing, .keyUnused: nil
        }
    }

    /// `nil` for an error that is not of a single record.
    init?(_ error: VaultError) {
        switch error {
        case .recordDamaged(let name): self = .recordDamaged(name)
        case .recordDisplaced(let name): self = .recordDisplaced(name)
        case .recordRolledBack(let name): self = .recordRolledBack(name)
        case .recordMissing(let name): self = .recordMissing(name)
        default: return nil
        }
    }
}

extension VaultFault: CustomStringConvertible {
    public var description: String { "\(identifier): \(name)" }
}
