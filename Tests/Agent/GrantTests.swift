import Gateway
import Groundwork
import HTTPClient
import Testing

@testable import Agent
@testable import AgentCalls
@testable import AgentCore
@testable import LocalAPI

@Suite("Grants of programs")
struct GrantTests {
    private func program(
        uid: UInt32 = 1000, groups: Set<UInt32> = [], unit: String? = nil, isOwner: Bool = false,
        mayOperate: Bool = false
    ) -> LocalProgram {
        LocalProgram(
            peer: Peer(uid: uid, pid: 7, groups: groups, unit: unit), isOwner: isOwner, mayOperate: mayOperate)
    }

    private func call(
        _ path: String..., host: String = ProgramGrant.gatewayHost, as principal: Principal? = nil,
        scopes: Set<String> = []
    ) -> GrantUse {
        GrantUse(
            principal: principal, account: .gateway, scopes: scopes, target: .init(host: host, segments: path))
    }

    private func isAllowed(_ decision: GrantBook.Decision) -> Bool {
        if case .allowed = decision { true } else { false }
    }

    private func grant(_ json: JSON, id: String = "1") throws -> ProgramGrant { try ProgramGrant(json: json, id: id) }

    @Test("a grant fits a program only if user, group and unit all fit")
    func subjects() throws {
        let both = try grant(["uid": 1000, "unit": "a.service"]).subject
        #expect(both.fits(program(unit: "a.service").peer))
        #expect(!both.fits(program().peer) && !both.fits(program(uid: 1, unit: "a.service").peer))
        let group = try grant(["gid": 60]).subject
        #expect(group.fits(program(groups: [5, 60]).peer) && !group.fits(program(groups: [5]).peer))
        #expect(!ProgramGrant.Subject().fits(program().peer))
    }

    @Test("a refusal also fits a program whose unit is not known, and an allowance does not")
    func unknownUnits() throws {
        func peer(_ unit: PeerUnit, uid: UInt32 = 1000) -> Peer { Peer(uid: uid, pid: 7, groups: [], unit) }
        let never = try grant(["uid": 1000, "unit": "a.service", "verdict": "never"])
        let allow = try grant(["unit": "a.service"])
        // Neither looked up, or its process has ended.
        #expect(never.concerns(peer(.noneOf([]))) && !allow.concerns(peer(.noneOf([]))))
        #expect(!never.concerns(peer(.noneOf([]), uid: 7)))
        #expect(never.concerns(peer(.noneOf(["b.service"]))) && !never.concerns(peer(.noneOf(["a.service"]))))
        #expect(!never.concerns(peer(.known(nil))) && never.concerns(peer(.known("a.service"))))
    }

    @Test("what the vault has for programs takes a grant that names it, and one for calls does not")
    func store() throws {
        func use(_ store: GrantUse.Store) -> GrantUse { GrantUse(account: .gateway, store: store) }
        let (own, other) = (
            try grant(["uid": 1, "store": true, "token": false]), try grant(["uid": 1, "storeOf": [7, 0]])
        )
        #expect(own.covers(use(.own)) && !own.covers(use(.of(7))))
        #expect(other.covers(use(.of(7))) && other.covers(use(.of(0))) && !other.covers(use(.of(8))))
        #expect(!other.covers(use(.own)))
        for json in [["uid": 1], ["uid": 1, "token": true], ["uid": 1, "verdict": "never"]] as [JSON] {
            #expect(try !grant(json).covers(use(.own)))
        }
        #expect(try grant(["uid": 1, "verdict": "never", "store": true]).covers(use(.own)))
        #expect(try grant(other.json(isInSettings: false)) == other)
        #expect(!own.covers(call("a")) && !other.covers(call("a")) && !own.covers(GrantUse(account: .gateway)))
        let both = try grant(["uid": 1, "store": true, "paths": ["/*"]])
        #expect(both.covers(call("a")) && both.covers(use(.own)))
        #expect(try grant(own.json(isInSettings: false)) == own)
        #expect(both.ending(at: .gateway)?.store == true)
        for value in ["yes", [-1], ["a"], [4_294_967_296]] as [JSON] {
            #expect(throws: AgentError.self) { try grant(["uid": 1, "storeOf": value]) }
        }
    }

    @Test("the right to operate is one to what one's own user has, not to another's")
    func storeOfOperators() throws {
        let book = GrantBook()
        let use = GrantUse(account: .gateway, store: .own)
        #expect(isAllowed(book.decide(program(mayOperate: true), use)))
        #expect(!isAllowed(book.decide(program(), use)))
        book.set([try grant(["uid": 1])], asks: false)
        #expect(!isAllowed(book.decide(program(mayOperate: true), use)))
        #expect(isAllowed(book.decide(program(isOwner: true), use)))
    }

    @Test("only scopes that a grant can name may be asked for, and few of them")
    func scopes() throws {
        #expect(try GrantUse.scopes(nil).isEmpty && GrantUse.scopes("b  a b") == ["a", "b"])
        let most = (1...32).map { "s\($0)" }
        #expect(try GrantUse.scopes(most.joined(separator: " ")).count == 32)
        let long = String(repeating: "x", count: 513)
        for text in [(most + ["s33"]).joined(separator: " "), "a\"b", "a\\b", "caf\u{E9}", "a\u{7}", long] {
            #expect(throws: AgentError.self, "\(text)") { try GrantUse.scopes(text) }
        }
    }

    @Test(
        "a grant's path matches that path alone, or with /* all that is below its segments",
        arguments: [
            ("/*", ["a"], true), ("/a", ["a"], true), ("/a", ["a", ""], false), ("/a", ["a", "b"], false),
            ("/a/*", ["a", "b"], true), ("/a/*", ["a"], false), ("/a/*", ["ab", "c"], false), ("/a%62", ["ab"], true),
            ("/a/", ["a", ""], true),
        ] as [(String, [String], Bool)])
    func paths(pattern: String, segments: [String], matches: Bool) {
        #expect(ProgramGrant.path(pattern, matches: segments) == matches)
    }

    @Test("a grant covers what it names of principal, host, scope and token, and nothing else")
    func covers() throws {
        let board = try grant(["uid": 1, "paths": ["/lab/*"], "scopes": ["orders"]])
        #expect(board.covers(call("lab", "x")) && board.covers(call("lab", "x", as: .board, scopes: ["orders"])))
        #expect(!board.covers(call("lab", "x", as: .user)) && !board.covers(call("x")))
        #expect(!board.covers(call("lab", "x", host: "api.example:443")))
        #expect(!board.covers(call("lab", "x", scopes: ["admin"])))
        let token = GrantUse(principal: .board, account: .gateway, target: nil)
        #expect(!board.covers(token))
        #expect(try grant(["uid": 1, "token": true]).covers(token))
        let other = GrantUse(principal: .board, account: try #require(AccountName("b")), target: nil)
        #expect(try !grant(["uid": 1, "token": true]).covers(other))
    }

    @Test(
        "a refusal covers all that it does not limit, however a path is written, and the token",
        arguments: [
            (["uid": 1, "verdict": "never"], ["admin"], true),
            (["uid": 1, "verdict": "never", "as": ["board"]], [], false),
            (["uid": 1, "verdict": "never", "paths": ["/admin/*"]], ["lab"], false),
            (["uid": 1, "verdict": "never", "paths": ["/admin/*"]], ["Admin;x", "users"], true),
            (["uid": 1, "verdict": "never", "paths": ["/admin"]], ["admin", ""], true),
            (["uid": 1, "verdict": "never", "hosts": ["api.example"]], ["admin"], false),
            (["uid": 1, "verdict": "never", "scopes": ["other"]], ["admin"], false),
            (["uid": 1, "verdict": "never", "scopes": ["orders"]], ["admin"], true),
        ] as [(JSON, [String], Bool)])
    func refusals(json: JSON, segments: [String], covers: Bool) throws {
        let use = GrantUse(
            principal: .user, account: .gateway, scopes: ["orders"],
            target: .init(host: ProgramGrant.gatewayHost, segments: segments))
        #expect(try grant(json).covers(use) == covers)
        #expect(try grant(["uid": 1, "verdict": "never"]).covers(GrantUse(account: .gateway)))
    }

    @Test("recorded attempts are counted, and invented hosts and scopes do not push other records out")
    func records() {
        let (log, now) = (GrantLog(directory: "/nonexistent"), ContinuousClock.now)
        func due(_ use: GrantUse, after seconds: Int = 0, uid: UInt32 = 1000) -> GrantLog.Due? {
            log.due(program(uid: uid), use, nil, isRefusal: true, now: now + .seconds(seconds))
        }
        #expect(due(call("a")) == .init(times: 1, omitted: 0))
        #expect(due(call("b")) == nil && due(call("a"), after: 59) == nil, "all paths of a host are one use")
        #expect(due(call("a", scopes: ["invented"])) == nil, "with whatever scopes")
        #expect(due(call("a"), after: 60) == .init(times: 4, omitted: 0))
        let written = (1...50).count { due(call("a", host: "h\($0):443"), after: 61) != nil }
        #expect(written == 9)
        #expect(due(call("a"), after: 61, uid: 7) == .init(times: 1, omitted: 0), "another user's are written")
        #expect(due(call("a", host: "other:443"), after: 121) == .init(times: 1, omitted: 41))
    }

    @Test("the right to operate is enough without grants in the settings, and not with some")
    func settings() throws {
        let book = GrantBook()
        let operating = program(mayOperate: true)
        #expect(isAllowed(book.decide(operating, call("x"))) && !isAllowed(book.decide(program(), call("x"))))
        #expect(book.concerns(operating) && !book.concerns(program()) && book.units == nil)
        book.set([try grant(["uid": 5, "unit": "a.service"], id: "sensors")], asks: false)
        #expect(!isAllowed(book.decide(operating, call("x"))))
        #expect(isAllowed(book.decide(program(isOwner: true), call("x"))))
        #expect(isAllowed(book.decide(program(uid: 5, unit: "a.service"), call("x"))))
        #expect(book.units == ["a.service"] && book.isLimitedBySettings)
    }

    @Test("a person is asked about programs that no grant names, never about users who may operate")
    func asks() {
        let book = GrantBook()
        book.set([], asks: true)
        guard case .open = book.decide(program(), call("x")) else {
            Issue.record("nobody is asked")
            return
        }
        #expect(isAllowed(book.decide(program(mayOperate: true), call("x"))))
        #expect(book.units == [])
    }

    @Test("what a program wants to do is said with its account, unless that is the default one")
    func text() throws {
        let plant = try #require(AccountName("plant2"))
        #expect(GrantUse(account: .gateway).text == "have the access token")
        #expect(GrantUse(account: plant).text == "have the access token at the account plant2")
        #expect(call("lab").text == "call gateway")
        let other = GrantUse(account: plant, target: .init(host: ProgramGrant.gatewayHost, segments: ["lab"]))
        #expect(other.text == "call gateway at the account plant2")
    }

    @Test("an answer about a program is about its user, and its service if it runs in one")
    func subjectOfAnswer() {
        #expect(program(unit: "a.service").subject == .init(uid: 1000, unit: "a.service"))
        #expect(program(unit: "session-3.scope").subject == .init(uid: 1000))
        #expect(program(unit: "user@1000.service").subject == .init(uid: 1000))
    }
}

@Suite("Requests to the forward proxy")
struct ForwardRequestTests {
    private func read(_ target: String, _ host: String? = "gateway", method: String = "GET") throws(ProxyError)
        -> ForwardRequest
    {
        try ForwardRequest(method: method, target: target, headers: host.map { ["Host": $0] } ?? [:])
    }

    @Test("a proxied request goes by Host in the origin form, else by its own target (RFC 9112 3.2)")
    func targets() throws {
        #expect(try read("/lab/hello?a=/../b").server == .gateway(.gateway))
        #expect(try read("/lab/hello?a=/../b").path == "/lab/hello?a=/../b")
        #expect(try read("http://gateway", "api.example").path == "/")
        #expect(try read("http://API.example:8443/a/", nil).server == .host("api.example", 8443))
        #expect(try read("/", "api.example").server == .host("api.example", 443))
        #expect(try read("/", "api.example:80").server == .host("api.example", 443))
        #expect(try read("/", "lab2.gateway").server == .gateway(try #require(AccountName("lab2"))))
        #expect(try read("/a/").segments == ["a", ""])
    }

    @Test(
        "a proxied request is refused where two readers could read it differently",
        arguments: [
            ("/a", nil), ("/a", ""), ("*", "gateway"), ("https://gateway/", "gateway"), ("/a/../b", "gateway"),
            ("/a/%2E./b", "gateway"), ("/a%2fb", "gateway"), ("//a", "gateway"), ("/a//b", "gateway"),
            ("/a%5cb", "gateway"), ("/a/..;/b", "gateway"), ("/a/..%3bx/b", "gateway"), ("/a/;x/b", "gateway"),
            ("/a/%252e%252e/b", "gateway"), ("/a/b%252fc", "gateway"), ("/a/..%2F%CC%81", "gateway"),
            ("/a b", "gateway"), ("/a", "user@gateway"), ("/a", "gateway:8443"), ("/a", "UPPER_.gateway"),
            ("/a", "gateway/x"), ("/a", "api.example:0"), ("/a", "[::1%25eth0]"), ("/a", "::1"),
            ("http:///a", "gateway"),
        ] as [(String, String?)])
    func refused(target: String, host: String?) {
        #expect(throws: ProxyError.self) { try read(target, host) }
    }

    @Test(
        "a proxied request makes no tunnel, and no trace that would show the token",
        arguments: ["CONNECT", "TRACE", "trace"])
    func methods(method: String) {
        #expect(throws: ProxyError.methodRefused(method)) { try read("/", method: method) }
    }

    @Test("a proxied request passes on no connection fields and no proof of the board's (RFC 9110 7.6.1)")
    func fields() {
        let headers: HTTPHeaders = [
            "Host": "gateway", "Connection": "close, X-Mine", "x-mine": "1", "Transfer-Encoding": "chunked",
            "Authorization": "Bearer x", "MAG-Identifier": "x", "Geo-Location": "1,1", "X-Original-URL": "/a",
            "TE": "trailers", "Accept": "a", "Cookie": "b", "mag_identifier": "x", "L7-Original-URL": "/a",
            "X_Rewrite_URL": "/a", "X-HTTP-Method-Override": "PUT",
        ]
        #expect(ForwardRequest.passedOn(headers, toGateway: true) == ["Accept": "a", "Cookie": "b"])
        #expect(
            ForwardRequest.passedOn(["Connection": "x", "X": "1", "Authorization": "a"], toGateway: false) == [
                "Authorization": "a"
            ])
    }

    @Test("a proxied request never reaches the endpoints of the board's identity, however they are written")
    func reserved() throws {
        let lab = try gateway { _ in }
        for path in [
            ["connect", "device", "remove"], ["Connect", "DEVICE", "remove;x"], ["auth", "oauth", "v2", "token", ""],
            ["auth", "device", "authorization", "7b"], ["auth", "QRcode", "authorization;x"],
            ["connect", "device", "list"], ["connect", "session", "status"],
        ] {
            #expect(lab.reserves(path), "\(path)")
        }
        for path in [["lab", "hello"], ["connect", "device"], ["openid", "connect", "v1", "userinfo"]] {
            #expect(!lab.reserves(path), "\(path)")
        }
    }

    @Test("an answer that says in two ways where it ends is not passed on (RFC 9112 section 6.3)")
    func ambiguous() {
        #expect(ProxyFeature.isAmbiguous(["transfer-encoding": "chunked", "Content-Length": "3"]))
        #expect(!ProxyFeature.isAmbiguous(["Transfer-Encoding": "chunked"]))
        #expect(!ProxyFeature.isAmbiguous(["Content-Length": "3"]))
    }
}
