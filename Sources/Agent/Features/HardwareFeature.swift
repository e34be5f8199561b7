import Groundwork
import LocalAPI

/// What becomes of an identity that came with the card of another board.
struct HardwareFeature: Feature {
    let host: Host

    init(_ host: Host) { self.host = host }

    static var needsVault: Bool { false }

    func addRoutes(to router: inout Router) {
        let answer = Schema.object(
            ["identity": .string("what was done", choices: ["adopted", "discarded"])], required: ["identity"])
        router.on(
            "POST", "/v1/identity/adopt", needs: .operate,
            .init("Go on with the identity of another board, whose place this one takes", answer: answer)
        ) { request in
            try await self.adoptIdentity()
            return .json(["identity": "adopted"])
        }
        router.on(
            "POST", "/v1/identity/discard", needs: .operate,
            .init("Forget the identity and the messages of another board, whose card was copied", answer: answer)
        ) { request in
            try await self.discardIdentity()
            return .json(["identity": "discarded"])
        }
    }
}
