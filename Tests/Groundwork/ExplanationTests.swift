import Testing

@testable import Groundwork

@Suite("Explanation of an error")
struct ExplanationTests {
    /// As they were before there were kinds, and as docs/troubleshooting.md and the page of the local API have them.
    private static let statuses: [(ExplanationKind, http: Int, exit: Int32)] = [
        (.misuse, 400, 64), (.unknownRoute, 404, 64), (.methodNotAllowed, 405, 64), (.notAcceptable, 406, 64),
        (.invalidInput, 400, 65),
        (.tooLarge, 413, 65),
        (.headTooLarge, 431, 65), (.tooSlow, 408, 75), (.invalidConfiguration, 400, 78), (.notFound, 404, 1),
        (.conflict, 409, 1),
        (.busy, 409, 75), (.unconfigured, 409, 78), (.notAdmitted, 409, 76), (.tooMany, 429, 75), (.full, 507, 75),
        (.cancelled, 503, 1), (.unauthenticated, 401, 77),
        (.permission, 403, 77), (.denied, 403, 76), (.refused, 502, 76),
        (.invalidAnswer, 502, 76),
        (.unreachable, 502, 75), (.temporary, 503, 75), (.unavailable, 503, 1), (.notRunning, 503, 69),
        (.configuration, 500, 78),
        (.damaged, 500, 78), (.internal, 500, 1),
    ]

    @Test("HTTP status and exit status follow from the kind alone")
    func kinds() {
        #expect(Self.statuses.map(\.0) == ExplanationKind.allCases)
        for (kind, http, exit) in Self.statuses {
            #expect(kind.httpStatus == http && kind.exitStatus.rawValue == exit, "\(kind)")
            #expect(!kind.meaning.isEmpty && kind.meaning.last != ".")
            #expect(kind.rawValue.allSatisfy { $0.isLowercase || $0 == "-" })
        }
    }

    @Test("an explanation as JSON is read back as it was, with all that a gateway said")
    func json() {
        let whole = Explanation(
            "gateway.device-already-registered", .refused, "the device is registered already", remedy: "reset it",
            cause: "a.b",
            gateway: GatewayNumbers(.local, 120_001, caError: 1_000_105, httpStatus: 400), status: "REVOKED",
            browserAnswer: .ofAnotherLogin)
        #expect(
            whole.answer == [
                "error": [
                    "code": "gateway.device-already-registered", "kind": "refused",
                    "message": "the device is registered already",
                    "remedy": "reset it", "cause": "a.b",
                    "gateway": ["domain": "local", "number": 120_001, "xCaErr": 1_000_105, "httpStatus": 400],
                    "status": "REVOKED", "browserAnswer": "of-another-login",
                ]
            ])
        #expect(Explanation(answer: whole.answer) == whole)
        let bare = Explanation("a.b", .conflict, "says")
        #expect(bare.answer == ["error": ["code": "a.b", "kind": "conflict", "message": "says"]])
        #expect(Explanation(answer: bare.answer) == bare)
    }

    @Test(
        "an explanation of a missing or unknown kind counts as a fault of the program",
        arguments: [
            ["code": "a.b", "message": "says", "kind": "of tomorrow"], ["code": "a.b", "message": "says"],
        ] as [JSON])
    func otherVersions(error: JSON) {
        #expect(Explanation(answer: ["error": error]) == Explanation("a.b", .internal, "says"))
    }

    @Test(
        "an explanation is not made of anything else than an error",
        arguments: [
            nil, [], ["error": "text"], ["error": ["code": "a.b"]], ["error": ["message": "says"]],
            ["error": ["code": 1, "message": "x"]],
        ] as [JSON])
    func noError(answer: JSON) { #expect(Explanation(answer: answer) == nil) }

    @Test("an explanation of an error that was not written for people is its type and no content")
    func unexpected() {
        struct Leaky: Error { let token = "s3cret" }
        let said = Explanation(of: Leaky())
        #expect(said.code == "internal.unexpected" && said.kind == .internal)
        #expect(said.message == "an unexpected error: Leaky")
        #expect(!said.answer.text.contains("s3cret"))
        #expect(Explanation(of: CancellationError()).kind == .cancelled)
    }
}
