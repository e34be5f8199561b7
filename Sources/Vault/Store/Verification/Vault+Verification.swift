import Cryptography
import Groundwork
import Storage

/// The check of everything that an open vault has, in turns between which other calls come through.
extension Vault {
    /// Checks everything: the list of records, each listed record, each row that is not listed, slots and data keys.
    ///
    /// What is written meanwhile is checked either before or after: a commit is not a fault.
    ///
    /// - Throws: ``VaultError`` if the vault cannot be read for now; `CancellationError`
    public func verify() async throws -> Verification {
        var found = Verification(areContentsChecked: true)
        guard try verifyStructure(&found) else { return found }
        var names: [RecordName: VaultFault] = [:]
        var start: RecordName? = RecordName(scope: "", name: "")
        while let first = start, found.faults.count + names.count < Verification.faultLimit {
            start = try verifyListed(from: first, &names, &found)
            try await letOthers()
        }
        for case .recordDamaged(let name) in Array(names.values) { names[name] = try await search(for: name) }
        var rows = try remainingRows(from: .min)
        while let range = rows, found.faults.count + names.count < Verification.faultLimit {
            rows = try verifyRows(range, &names)
            try await letOthers()
        }
        found.note(names.sorted { $0.key < $1.key }.map(\.value))
        found.note(try unlistedPieces())
        return found
    }

    /// Checks everything as ``verify()`` does.
    ///
    /// - Returns: what keeps records from being read: ``VaultError/manifestDamaged(path:)`` if a page of the list is
    ///   damaged, whose records are left out, and the faults of single records, sorted by name; empty if there are
    ///   none.
    /// - Throws: what ``verify()`` does
    public func faults() async throws -> [VaultError] {
        try await verify().faults.compactMap { $0.error(in: path) }
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    private func letOthers() async throws {
        try Task.checkCancellation()
        await Task.yield()
    }

    // MARK: Structure

    /// Checks slots, data keys and the pages of the list, without opening a record.
    ///
    /// - Returns: whether there is a list.
    private func verifyStructure(_ found: inout Verification) throws(VaultError) -> Bool {
        let unsealed = try access()
        return try explained {
            try unsealed.file.database.snapshot {
                let file = unsealed.file
                let slots = try file.storedSlots()
                found.slots = slots.count
                found.note(slots.filter(\.isDamaged).map { .slotDamaged(id: $0.id) })
                let list: ManifestRoot
                do {
                    list = try root(unsealed)
                    // It may have been read before the file was damaged.
                    guard try file.root(unsealed.seal) == list else { throw VaultError.manifestDamaged(path: path) }
                } catch VaultError.manifestDamaged {
                    found.note([.listDamaged])
                    return false
                }
                found.pages = list.pages.count
                var used: Set = [list.key]
                for page in list.pages {
                    do {
                        used.formUnion(try file.page(page, unsealed.seal).entries.values.map(\.key))
                    } catch VaultError.manifestDamaged {
                        found.note([.pageDamaged(id: page.id)])
                    }
                }
                let listed = Set(list.pages.map(\.id))
                found.note(try file.pageRows().filter { !listed.contains($0.id) }.map { .pageUnlisted(id: $0.id) })
                try verifyKeys(used, unsealed, &found)
                return true
            }
        }
    }

    private func verifyKeys(_ used: Set<Int64>, _ unsealed: Unsealed, _ found: inout Verification) throws {
        let keys = try unsealed.file.keyRows().map(\.id)
        found.keys = keys.count
        found.note(used.subtracting(keys + [Seal.rootKeyID]).sorted().map { .keyMissing(id: $0) })
        // A page that cannot be read may have the records of a key.
        let isKnown = !found.faults.contains { if case .pageDamaged = $0 { true } else { false } }
        for id in keys {
            do {
                if try unsealed.file.dataKey(id, unsealed.seal) == nil {
                    found.note([.keyDamaged(id: id)])
                    continue
                }
            } catch VaultError.levelLocked {}
            if isKnown, !used.contains(id), try unsealed.file.keyRow(id)?.level.isBehindPasscode != true {
                found.note([.keyUnused(id: id)])
            }
        }
    }

    // MARK: Listed records

    /// Checks some listed records, without looking for where the content of a damaged one belongs.
    ///
    /// - Parameter start: the first name.
    /// - Returns: the name to go on from; `nil` after the last one.
    private func verifyListed(
        from start: RecordName, _ names: inout [RecordName: VaultFault], _ found: inout Verification
    ) throws(VaultError) -> RecordName? {
        let unsealed = try access()
        return try explained {
            try unsealed.file.database.snapshot {
                let list = try root(unsealed)
                guard let place = list.firstPlace(from: start) else { return nil }
                let page = list.pages[place]
                let after = place + 1 < list.pages.count ? list.pages[place + 1].start : nil
                let entries: [String: RecordEntry]
                do {
                    entries = try unsealed.file.page(page, unsealed.seal).entries
                } catch VaultError.manifestDamaged {
                    found.note([.pageDamaged(id: page.id)])
                    return after
                }
                var bytes = 0
                for name in entries.keys.sorted().map({ RecordName(scope: page.scope, name: $0) }) where name >= start {
                    guard bytes < Self.turn.bytes else { return name }
                    do {
                        guard let count = try verifiedBytes(of: name, list, unsealed) else {
                            throw VaultError.recordDamaged(name: name)
                        }
                        bytes += count
                    } catch VaultError.levelLocked {
                        found.locked += 1
                    } catch let error as VaultError {
                        guard let fault = VaultFault(error) else { throw error }
                        names[name] = fault
                    }
                    found.records += 1
                }
                return after
            }
        }
    }

    /// - Returns: how many bytes of content were opened, with those of pieces; `nil` for a record that opens, but has
    ///   a damaged piece.
    /// - Throws: what ``readInPlace(_:_:_:)`` does
    private func verifiedBytes(
        of name: RecordName, _ list: ManifestRoot, _ unsealed: Unsealed
    ) throws -> Int? {
        guard let record = try readInPlace(name, list, unsealed) else { return 0 }
        guard record.kind == .pieces else { return record.content.count }
        guard let value = LargeValue(decoding: record.content), try areGenuine(value, of: name, unsealed) else {
            return nil
        }
        return value.count
    }

    /// Pieces that no record names. Those of a record that cannot be read now count as named.
    private func unlistedPieces() throws(VaultError) -> [VaultFault] {
        let unsealed = try access()
        return try explained {
            try unsealed.file.database.snapshot {
                let list = try root(unsealed)
                return try unsealed.file.valuesInPieces(most: Verification.faultLimit).compactMap { name, id in
                    do {
                        let record = try readInPlace(name, list, unsealed)
                        let isNamed =
                            record?.kind == .pieces && record.flatMap { LargeValue(decoding: $0.content) }?.id == id
                        return isNamed ? nil : .pieceUnlisted(name)
                    } catch is VaultError {
                        return nil
                    }
                }
            }
        }
    }

    /// Looks for where the content of a damaged record belongs, in a turn for each page.
    ///
    /// - Returns: `nil` if it is not damaged any more.
    private func search(for name: RecordName) async throws -> VaultFault? {
        var start: RecordName? = RecordName(scope: "", name: "")
        while let first = start {
            let (fault, next) = try search(for: name, from: first)
            guard case .recordDamaged = fault else { return fault }
            start = next
            try await letOthers()
        }
        return .recordDamaged(name)
    }

    private func search(
        for name: RecordName, from start: RecordName
    ) throws(VaultError) -> (fault: VaultFault?, next: RecordName?) {
        let unsealed = try access()
        return try explained {
            try unsealed.file.database.snapshot {
                let list = try root(unsealed)
                do {
                    // Where its own content opens, one of its pieces is damaged.
                    let isWhole = try verifiedBytes(of: name, list, unsealed) != nil
                    return (isWhole ? nil : .recordDamaged(name), nil)
                } catch let error as VaultError where error.isOfRecord {
                    guard error == .recordDamaged(name: name) else { return (VaultFault(error), nil) }
                } catch VaultError.levelLocked {
                    // It was locked meanwhile.
                    return (.recordDamaged(name), nil)
                }
                guard let place = list.firstPlace(from: start) else { return (.recordDamaged(name), nil) }
                let next = place + 1 < list.pages.count ? list.pages[place + 1].start : nil
                do {
                    let isFound = try isDisplaced(name, from: list.pages[place], unsealed)
                    return (isFound ? .recordDisplaced(name) : .recordDamaged(name), next)
                } catch VaultError.manifestDamaged {
                    return (.recordDamaged(name), next)
                }
            }
        }
    }

    // MARK: Rows

    /// The numbers of the rows from one on; `nil` if there is none.
    private func remainingRows(from first: Int64) throws(VaultError) -> ClosedRange<Int64>? {
        let unsealed = try access()
        return try explained {
            guard let last = try unsealed.file.lastRow(), first <= last else { return nil }
            return first...last
        }
    }

    /// Looks for rows that are not listed.
    ///
    /// - Returns: the numbers to go on with; `nil` after the last one.
    private func verifyRows(
        _ range: ClosedRange<Int64>, _ names: inout [RecordName: VaultFault]
    ) throws(VaultError) -> ClosedRange<Int64>? {
        let unsealed = try access()
        return try explained {
            try unsealed.file.database.snapshot {
                let list = try root(unsealed)
                // Names of each page that was needed; `nil` for a damaged one, which may have any.
                var pages: [Int64: Set<String>?] = [:]
                let rows = try unsealed.file.rows(range, most: Self.turn.records)
                for row in rows {
                    guard row.name.isAllowed, let place = list.place(of: row.name) else {
                        names[row.name] = .recordUnlisted(row.name)
                        continue
                    }
                    let page = list.pages[place]
                    if pages[page.id] == nil {
                        do {
                            pages[page.id] = Set(try unsealed.file.page(page, unsealed.seal).entries.keys)
                        } catch VaultError.manifestDamaged {
                            pages[page.id] = .some(nil)
                        }
                    }
                    if let listed = pages[page.id] ?? nil, !listed.contains(row.name.name) {
                        names[row.name] = .recordUnlisted(row.name)
                    }
                }
                guard let last = rows.last?.id, last < range.upperBound else { return nil }
                return last + 1...range.upperBound
            }
        }
    }
}

extension ManifestRoot {
    /// The place of the page which may have a name, or the first one after it; `nil` after the last page.
    fileprivate func firstPlace(from name: RecordName) -> Int? {
        if let place = place(of: name) { return place }
        return pages.firstIndex { name < $0.start }
    }
}

extension ManifestRoot.Page {
    /// The first name that it may have.
    fileprivate var start: RecordName { RecordName(scope: scope, name: first) }
}
