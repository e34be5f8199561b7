import Groundwork
import LocalAPI

/// What becomes of an identity that came with the card of another board.
package struct HardwareFeature: Feature {
    package let host: Host

    package static var errors: [any Explained.Type] { [HardwareError.self] }

    package static var recordRules: RecordRules { RecordRules(bound: [serialNumber]) }

    package init(_ host: Host) { self.host = host }

    package static var needsVault: Bool { false }

    package func addRoutes(to router: inout Router) {
        let answer = Schema.object(all: ["identity": .string("what was done", choices: ["adopted", "discarded"])])
        router.on(
            "POST", "/v1/identity/adopt", needs: .operate,
            .init("Keep using another board's identity: this board takes its place", answer: answer)
        ) { request in
            try await self.adoptIdentity()
            return .json(["identity": "adopted"])
        }
        router.on(
            "POST", "/v1/identity/discard", needs: .operate,
            .init("Forget the identity and the messages that were copied with another board's card", answer: answer)
        ) { request in
            try await self.discardIdentity()
            return .json(["identity": "discarded"])
        }
    }
}
