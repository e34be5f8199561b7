import Cryptography
import FoundationEssentials
import Groundwork
import LocalAPI
import Vault

/// The keys that open the vault: a leaked credential can be replaced, and a board moved from one kind of key to
/// another, without enrolling again. Each change is completely on disk when it is answered, or not at all.
extension VaultFeature {
    package func addRoutes(to router: inout Router) {
        addRekeyingRoute(to: &router)
        addVerificationRoute(to: &router)
        addExportRoute(to: &router)
        addRestoreRoutes(to: &router)
        router.on(
            "GET", "/v1/vault/slots", needs: .operate,
            .init(
                "The slots of the sealed store; each has its own key",
                answer: .object(all: ["slots": .array(of: Slot.schema, "ordered by number")]))
        ) { _ in
            let openedBy = try await self.host.vault.openedBy().id
            return .json([
                "slots": .array(try await self.host.vault.slots().map { $0.json(isInUse: $0.id == openedBy) })
            ])
        }
        router.on(
            "POST", "/v1/vault/slots", needs: .operate,
            .init(
                "Add a slot to the sealed store", body: Self.keyMembers, required: ["kind"], answer: Slot.schema)
        ) { request in
            let slot = try await self.host.vault.add(try await self.newKey(RequestBody(request)))
            try await self.host.guardVault()
            return .json(slot.json(isInUse: false))
        }
        router.on(
            "POST", "/v1/vault/slots/{id}", needs: .operate,
            .init(
                "Replace the key of a slot of the sealed store; the old key no longer opens it",
                path: ["id": .integer("number of the slot")], body: Self.keyMembers, required: ["kind"],
                answer: Slot.schema)
        ) { request in
            let (id, openedBy) = (try request.slot(), try await self.host.vault.openedBy().id)
            let slot = try await self.host.vault.rewrap(
                slot: id, with: try await self.newKey(RequestBody(request), replacing: id))
            try await self.host.guardVault()
            return .json(slot.json(isInUse: id == openedBy))
        }
        addTrialRoute(to: &router)
        router.on(
            "DELETE", "/v1/vault/slots/{id}", needs: .operate,
            .init(
                "Remove a slot of the sealed store, except the one that opened it",
                path: ["id": .integer("number of the slot")],
                query: ["force": .string("even if only development key files are left; any value")],
                answer: .object(all: ["removed": .integer("number of the slot that was removed")]))
        ) { request in
            let id = try request.slot()
            // The settings still name its key: without the slot, the agent could not open its vault again.
            guard try await self.host.vault.openedBy().id != id else { throw AgentError.slotInUse(id) }
            try await self.host.vault.remove(slot: id, force: request.query["force"] != nil)
            return .json(["removed": .integer(id)])
        }
    }

    func addRekeyingRoute(to router: inout Router) {
        router.on(
            "POST", "/v1/vault/rekey", needs: .operate,
            .init(
                "Seal all records of the sealed store with a new key, beside everything else; goes on after a restart",
                body: [
                    "root": .boolean("make a new root key too; false unless given"),
                    "drop": .array(of: .integer("number of a slot"), "with root: the other slots, which all go"),
                ], answer: Vault.Rekeying.answer.schema())
        ) { request in
            let body = RequestBody(request)
            let (isOfRoot, dropped) = (try body.bool("root", default: false), body.droppedSlots)
            let done = try await self.rekey {
                guard isOfRoot else { return try await self.host.vault.rekey() }
                return try await self.host.vault.replaceRootKey(for: try await self.keyInUse(), dropping: dropped)
            }
            return .json(Vault.Rekeying.answer.json(done))
        }
    }

    private func addTrialRoute(to router: inout Router) {
        router.on(
            "POST", "/v1/vault/slots/{id}/test", needs: .operate,
            .init(
                "Open a slot of the sealed store as the next start would, and use nothing of it",
                path: ["id": .integer("number of the slot")],
                body: ["key": Self.keyMembers["key"]!],  // Of the members below.
                answer: Slot.schema)
        ) { request in
            let (id, vault) = (try request.slot(), self.host.vault)
            guard let slot = try await vault.slots().first(where: { $0.id == id }) else {
                throw VaultError.slotUnknown(path: vault.path, id: id)
            }
            let key = try RequestBody(request).givenKey(of: slot.kind) ?? self.configuredKey(of: slot.kind)
            let openedBy = try await vault.openedBy().id
            return .json(try await vault.test(slot: id, with: key).json(isInUse: id == openedBy))
        }
    }

    /// The key of this kind that the agent can have by itself.
    private func configuredKey(of kind: Slot.Kind) throws -> any SlotKey {
        let slots = VaultSettings.Slot.allCases
        guard let slot = slots.first(where: { $0.kind == kind }) else {
            throw VaultError.slotParametersRefused(kind: kind)
        }
        return try host.settings.vault.key(
            of: slot, hardware: host.hardware, stateDirectory: host.settings.stateDirectory,
            environment: ProcessInfo.processInfo.environment)
    }

    /// The key for a slot that is to be written.
    ///
    /// - Parameter replaced: the number of the slot that it takes the place of.
    private func newKey(_ body: RequestBody, replacing replaced: Int64? = nil) async throws -> any SlotKey {
        let kind = Slot.Kind(rawValue: try body.string("kind"))
        guard [.tpm, .pkcs11].contains(kind) else {
            guard let key = try body.givenKey(of: kind) else {
                throw AgentError.badRequest(member: "key", fault: "is missing")
            }
            return key
        }
        guard body["key"] == nil else {
            throw AgentError.badRequest(member: "key", fault: "of a slot of kind \(kind) is in hardware")
        }
        guard kind == .tpm else { return try host.hardware.tokenSlot() }
        let settings = host.settings.vault.tpm
        let others = try await host.vault.slots().filter { $0.id != replaced && $0.kind != .tpm && !$0.isDamaged }
        guard settings.registers.isEmpty || !others.isEmpty else {
            throw AgentError.badRequest(
                member: "kind",
                fault: "needs another slot first: an update of the firmware would close one bound to PCRs for good")
        }
        return host.hardware.tpmSlot
    }

    private static var keyMembers: [String: Schema] {
        [
            "kind": .string(
                "what opens the slot",
                choices: [Slot.Kind.systemdCredential, .passphrase, .tpm, .pkcs11].map(\.rawValue)),
            "key": Schema.base64("content of the credential, or the passphrase; 16 to 4096 bytes; none for hardware")
                .asSensitive,
        ]
    }
}

extension RequestBody {
    /// `nil` if none is given.
    fileprivate func givenKey(of kind: Slot.Kind) throws(AgentError) -> (any SlotKey)? {
        guard let text = try optionalString("key") else { return nil }
        guard var bytes = Base64.decode(text), bytes.count <= Self.keyLimit else {
            throw .badRequest(member: "key", fault: "is not base64 of at most \(Self.keyLimit) bytes")
        }
        defer { wipe(&bytes) }
        switch kind {
        case .systemdCredential: return GivenCredential(SecretBytes(bytes))
        case .passphrase: return Passphrase(SecretBytes(bytes))
        default: throw .badRequest(member: "key", fault: "is not what opens a slot of kind \(kind)")
        }
    }

    fileprivate var droppedSlots: Set<Int64> { Set((json["drop"]?.array ?? []).compactMap(\.integer)) }

    /// The limit of a key file, in bytes.
    private static let keyLimit = 4096
}

extension Vault.Rekeying {
    fileprivate static let answer: Answer<Vault.Rekeying> = [
        "moved": .of("records that were sealed with the new key") { $0.moved },
        "damaged": .of("records that cannot be read any more, and stay as they are") { $0.damaged.map(\.description) },
    ]
}

extension LocalRequest {
    fileprivate func slot() throws(AgentError) -> Int64 {
        guard let id = parameters["id"].flatMap({ Int64($0) }) else {
            throw .badRequest(member: "id", fault: "is not a number")
        }
        return id
    }
}

extension Slot {
    fileprivate static let answer: Answer<(slot: Slot, isInUse: Bool)> = [
        "id": .of("number of the slot") { $0.slot.id }, "kind": .of("what opens the slot") { $0.slot.kind.rawValue },
        "created": .schema(.string("when it was created, RFC 3339")) { $0.slot.created },
        "isDamaged": .of("whether it can no longer open the store") { $0.slot.isDamaged },
        "isInUse": .of("whether it opened the store") { $0.isInUse },
    ]

    fileprivate static var schema: Schema { answer.schema() }
    fileprivate func json(isInUse: Bool) -> JSON { Self.answer.json((self, isInUse)) }
}
