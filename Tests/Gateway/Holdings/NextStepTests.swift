import Foundation
import OAuth
import Testing

@testable import Gateway

@Suite("Next step of a session")
struct NextStepTests {
    private static let now = Moment(date: SampleHoldings.now, uptime: .seconds(10))

    /// A row: what is held, as a change of a board at work, and what follows for whom.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var need = Need()
        var last: ChainStep?
        var now = NextStepTests.now
        var renewal = RenewalTerms()
        let next: NextStep
        let change: @Sendable (inout Holdings) throws -> Void

        init(
            _ description: String, _ next: NextStep, for need: Need = Need(), after last: ChainStep? = nil,
            at now: Moment = NextStepTests.now, pause: RenewalPause? = nil,
            _ change: @escaping @Sendable (inout Holdings) throws -> Void = { _ in }
        ) {
            testDescription = description
            (self.next, self.need, self.last, self.now, self.change) = (next, need, last, now, change)
            renewal.pause = pause
        }
    }

    private static func after(_ seconds: TimeInterval) -> Moment {
        Moment(date: now.date + seconds, uptime: now.uptime + .seconds(seconds))
    }

    private static let certificateEnd = SampleHoldings.now + 300 * 86_400

    private static func keepsClient(_ holdings: inout Holdings) {
        holdings.client = holdings.client.map {
            ClientCredentials(
                masterID: $0.masterID,
                authentication: ClientAuthentication(id: $0.id, secret: $0.authentication.secret, expires: nil),
                isStatic: $0.isStatic)
        }
    }

    private static let board = [
        Row("a board at work needs nothing", .ready),
        Row("an empty board begins with its client", .take(.clientCredentials)) { $0 = Holdings() },
        Row("credentials that have ended are as good as none", .take(.clientCredentials), at: after(61)),
        Row("then it registers", .take(.registration)) { $0.device = nil },
        Row("and asks for a token", .take(.accessToken)) { $0.board.access = nil },
        Row("a token that has ended is replaced", .take(.accessToken), at: after(61), keepsClient),
        Row(
            "a wall clock that jumps does not end a token", .ready,
            at: Moment(date: now.date + 86_400, uptime: now.uptime), keepsClient),
        Row("a scope that the token lacks needs another", .take(.accessToken), for: Need(scope: "payments")),
        Row("one that it has does not", .ready, for: Need(scope: "b a")),
        Row("several missing parts come in their order", .take(.registration)) {
            $0.device = nil
            $0.board.access = nil
        },
        Row("a step is not taken twice, whatever came of it", .take(.accessToken), after: .registration) {
            $0.device = nil
            $0.board.access = nil
        },
        Row("after the last step there is none", .ready, after: .accessToken) { $0 = Holdings() },
    ]

    private static let renewal = [
        Row(
            "a certificate is renewed when its end is near", .take(.certificate),
            at: Moment(date: certificateEnd - 86_400, uptime: now.uptime), keepsClient),
        Row(
            "not before its time", .ready, at: Moment(date: certificateEnd - 31 * 86_400, uptime: now.uptime),
            keepsClient),
        Row(
            "nor while a failed renewal is put off", .ready,
            at: Moment(date: certificateEnd - 86_400, uptime: now.uptime),
            pause: RenewalPause(end: .seconds(11), hadEnded: false), keepsClient),
        Row(
            "but then", .take(.certificate), at: Moment(date: certificateEnd - 86_400, uptime: now.uptime),
            pause: RenewalPause(end: .seconds(10), hadEnded: false), keepsClient),
        Row(
            "it is put off no longer once it has ended", .take(.certificate),
            at: Moment(date: certificateEnd, uptime: now.uptime),
            pause: RenewalPause(end: .seconds(11), hadEnded: false), keepsClient),
        Row(
            "one that had ended already is put off too", .ready,
            at: Moment(date: certificateEnd, uptime: now.uptime),
            pause: RenewalPause(end: .seconds(11), hadEnded: true), keepsClient),
        Row(
            "but not for longer", .take(.certificate), at: Moment(date: certificateEnd, uptime: now.uptime),
            pause: RenewalPause(end: .seconds(10), hadEnded: true), keepsClient),
        Row(
            "nor once the clock that it had ended by is set right", .take(.certificate),
            at: Moment(date: certificateEnd - 1, uptime: now.uptime),
            pause: RenewalPause(end: .seconds(11), hadEnded: true), keepsClient),
        Row("one that is renewed has yet to prove itself", .take(.certificate)) {
            let chain = $0.device?.chain ?? []
            $0.device?.renewedChain = chain
        },
    ]

    private static let person = [
        Row("a board that waits for a person asks for nothing", .rest(.byPerson)) { $0 = Holdings(rest: .byPerson) },
        Row("whose log-in begins with the client all the same", .take(.clientCredentials), for: .logIn) {
            $0 = Holdings(rest: .byPerson)
        },
        Row("and goes on with the registration", .take(.registration), for: .logIn, after: .clientCredentials) {
            $0 = Holdings(rest: .withdrawn(code: 1))
        },
        Row("a log-in asks for a token, whatever is at hand", .take(.accessToken), for: .logIn),
        Row("a user's call needs the user's token", .take(.accessToken), for: Need(principal: .user)) {
            $0.user?.tokens.access = nil
        },
        Row("and not the board's", .ready, for: Need(principal: .user)) { $0.board.access = nil },
        Row("without a user it is asked for too, and refused there", .take(.accessToken), for: Need(principal: .user)) {
            $0.user = nil
        },
    ]

    @Test("a session's next step follows from its holdings and the time alone", arguments: board + renewal + person)
    func table(_ row: Row) throws {
        var holdings = try SampleHoldings.working()
        try row.change(&holdings)
        #expect(holdings.nextStep(for: row.need, after: row.last, at: row.now, renewal: row.renewal) == row.next)
    }
}
