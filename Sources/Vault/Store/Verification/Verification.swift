/// What the check of a whole vault has found.
public struct Verification: Sendable, Equatable {
    /// The most faults that are listed; the check ends with the last of them.
    public static let faultLimit = 1024

    /// Whether contents were opened; else only the structure was checked, and the digests that need no key.
    public let areContentsChecked: Bool
    /// Of the list of records, of slots and keys, and of records by name.
    public internal(set) var faults: [VaultFault] = []
    /// How many listed records were checked; without a key, rows.
    public internal(set) var records = 0
    /// How many of the records are of levels that are locked, so that their contents were not opened.
    public internal(set) var locked = 0
    public internal(set) var pages = 0
    public internal(set) var slots = 0
    public internal(set) var keys = 0

    /// Whether there may be more faults than are listed.
    public var isCutShort: Bool { faults.count >= Self.faultLimit }

    init(areContentsChecked: Bool) { self.areContentsChecked = areContentsChecked }

    mutating func note(_ found: some Sequence<VaultFault>) {
        for fault in found where !isCutShort && !faults.contains(fault) { faults.append(fault) }
    }
}
