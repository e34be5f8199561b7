import Groundwork

/// The users of an account.
extension MPinBackend {
    /// The longest name of a user or a device, in bytes.
    static let nameLimit = 512

    /// All that are stored, sorted by their ids.
    ///
    /// - Throws: ``MPinError/stepMissing(step:)`` before ``open()``
    public func users() throws(MPinError) -> [MPinUser] {
        try requireOpen().values.sorted { $0.id < $1.id }.map(shown)
    }

    /// - Throws: ``MPinError/noSuchUser``
    public func user(_ id: String) throws(MPinError) -> MPinUser {
        guard let user = try requireOpen()[id] else { throw .noSuchUser }
        return shown(user)
    }

    /// A user who is not registered yet. Nothing is stored, and nothing sent.
    ///
    /// - Parameters:
    ///   - id: as the back end knows the user, such as a mail address.
    ///   - deviceName: what this device shall be called there.
    /// - Throws: ``MPinError/userExists(user:)``, ``MPinError/inputInvalid(reason:)``
    public func makeUser(_ id: String, deviceName: String? = nil) throws(MPinError) -> MPinUser {
        try connected()
        guard (1...Self.nameLimit).contains(id.utf8.count), DisplayText.oneLine(id) == id else {
            throw .inputInvalid(reason: "a user's name has 1 to \(Self.nameLimit) bytes on one line")
        }
        let deviceName = deviceName.flatMap { $0.isEmpty ? nil : $0 }
        guard (deviceName?.utf8.count ?? 0) <= Self.nameLimit else {
            throw .inputInvalid(reason: "a device's name has at most \(Self.nameLimit) bytes")
        }
        guard try requireOpen()[id] == nil else { throw .userExists(user: id) }
        return MPinUser(
            id: id, backend: key, deviceName: deviceName, state: .invalid, isConfirmed: false,
            serial: HeldMPinUser.newSerial())
    }

    /// Removes all that is held of a user here. The back end is not asked.
    ///
    /// - Throws: ``MPinError/noSuchUser``, ``MPinError/storage(_:)``
    public func deleteUser(_ user: MPinUser) async throws {
        try await alone { backend in
            let held = try backend.find(user)
            killPoint("mpin-user-deletion-begun")
            try await backend.commit { stored in
                stored.entries[held.identity] = nil
                stored.secrets[held.identity] = nil
            }
            backend.held?[held.id] = nil
            killPoint("mpin-user-deletion-committed")
        }
    }

    func shown(_ user: HeldMPinUser) -> MPinUser {
        var isConfirmed = false
        if case .both = user.shares { isConfirmed = true }
        return MPinUser(
            id: user.id, backend: key, deviceName: user.deviceName, state: user.state, isConfirmed: isConfirmed,
            serial: user.serial)
    }

    /// - Throws: ``MPinError/noSuchUser`` for one of another back end too, and for one who was deleted
    func find(_ user: MPinUser) throws(MPinError) -> HeldMPinUser {
        guard let held = try requireOpen()[user.id], held.serial == user.serial, user.backend == key else {
            throw .noSuchUser
        }
        return held
    }

    /// - Throws: ``MPinError/noSuchUser``, ``MPinError/wrongState(user:state:)``, ``MPinError/notConnected``
    func find(_ user: MPinUser, in states: Set<MPinUserState>) throws(MPinError) -> HeldMPinUser {
        try connected()
        // Only in memory, until the back end has taken the registration.
        if user.state == .invalid, user.backend == key, try requireOpen()[user.id] == nil {
            throw .wrongState(user: user.id, state: .invalid)
        }
        let held = try find(user)
        guard states.contains(held.state) else { throw .wrongState(user: held.id, state: held.state) }
        return held
    }

    /// Changes what is stored, and nothing in memory. Must run in an operation.
    ///
    /// - Throws: ``MPinError/storage(_:)``, ``MPinError/recordInvalid(account:)``
    func commit(_ change: (inout StoredUsers) -> Void) async throws(MPinError) {
        var stored = try await store.read()
        change(&stored)
        try await store.write(stored)
    }
}
