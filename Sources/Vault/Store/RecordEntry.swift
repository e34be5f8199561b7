/// What the list of records says of one.
struct RecordEntry: Equatable {
    let kind: RecordKind
    /// The vault's generation when it was written.
    let version: Int64
    /// The data key that seals it; ``Seal/rootKeyID`` for a record of format 1.
    let key: Int64
}
