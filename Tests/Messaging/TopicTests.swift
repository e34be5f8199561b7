import Testing

@testable import Messaging

@Suite("Topics of messages")
struct TopicTests {
    @Test("topics must not be empty, too long or too deep, nor contain wildcards or control characters")
    func topicValidation() throws {
        #expect(throws: MessagingError.invalidTopic("", .empty)) { try Topic("") }
        #expect(throws: MessagingError.invalidTopic("a/+", .wildcard)) { try Topic("a/+") }
        #expect(throws: MessagingError.invalidTopic("a#", .wildcard)) { try Topic("a#") }
        #expect(throws: MessagingError.invalidTopic("a\0b", .forbiddenCharacter)) { try Topic("a\0b") }
        #expect(throws: MessagingError.invalidTopic("a\u{FFFF}", .forbiddenCharacter)) { try Topic("a\u{FFFF}") }
        #expect(throws: MessagingError.self) { try Topic(String(repeating: "x", count: 65_536)) }
        #expect(throws: MessagingError.self) { try Topic(String(repeating: "/", count: 200)) }
        #expect(try Topic(String(repeating: "x", count: 65_535)).name.count == 65_535)
        #expect(try Topic("/Straße/ 1").name == "/Straße/ 1")
    }

    @Test("topics of a device and a user are those of MAG 9.2 (MAG checklist 40)")
    func gatewayTopics() throws {
        let board = try TopicNamespace(prefix: "", deviceID: "d1")
        #expect(try board.custom("a/b").name == "/2.0/client/devices/d1/custom/a/b")
        #expect(try board.ownFilter.text == "/2.0/client/devices/d1/custom/#")
        #expect(try board.user("bob", "news").name == "/2.0/client/users/bob/custom/news")
        #expect(try board.user("bob").name == "/2.0/client/users/bob/custom/bob")
        #expect(try board.userAcrossApplications("bob", "x").name == "/2.0/users/bob/custom/x")
        #expect(try board.device("d2", "x").name == "/2.0/client/devices/d2/custom/x")
        #expect(try board.group("g", "x").name == "/2.0/client/groups/g/custom/x")
        #expect(try board.application("x").name == "/2.0/client/custom/x")
        let user = try TopicNamespace(prefix: "", deviceID: "d1", userID: "alice")
        #expect(try user.custom("a").name == "/2.0/client/users/alice/custom/a")
        #expect(try user.ownFilter.text == "/2.0/client/users/alice/custom/#")
    }

    @Test("topics begin with another level for a broker that cannot use the gateway's")
    func version() throws {
        let board = try TopicNamespace(prefix: "p", version: "2", deviceID: "d1")
        #expect(try board.custom("a").name == "/p/2/client/devices/d1/custom/a")
        #expect(try board.ownFilter.text == "/p/2/client/devices/d1/custom/#")
        #expect(try board.userAcrossApplications("bob", "x").name == "/p/2/users/bob/custom/x")
        #expect(throws: MessagingError.self) { try TopicNamespace(prefix: "p", version: "2/0", deviceID: "d1") }
    }

    @Test("topics that are refused are quoted as written, without the device's prefix")
    func quoted() throws {
        let board = try TopicNamespace(prefix: "", deviceID: String(repeating: "ab", count: 32))
        #expect(throws: MessagingError.invalidTopic("a/#", .wildcard)) { try board.custom("a/#") }
        #expect(throws: MessagingError.invalidTopic("", .empty)) { try board.custom("") }
        #expect(throws: MessagingError.invalidTopic("", .empty)) { try board.device("d2", "") }
        #expect(throws: MessagingError.invalidFilter("#/a", .misplacedWildcard)) { try board.custom(filter: "#/a") }
        #expect(throws: MessagingError.invalidFilter("", .empty)) { try board.custom(filter: "") }
        #expect(throws: MessagingError.invalidTopic(String(repeating: "x", count: 79) + "+…", .wildcard)) {
            try board.custom(String(repeating: "x", count: 79) + "++")
        }
    }

    @Test("topics below the device's own have the published short form, others have none")
    func shortened() throws {
        let board = try TopicNamespace(prefix: "p", deviceID: "d1")
        #expect(board.shortened(try board.custom("door/state").name) == "door/state")
        #expect(board.shortened(try board.device("d2", "door").name) == nil)
        #expect(board.shortened("/p/2.0/client/devices/d1/custom/") == nil)
    }

    @Test(
        "topics begin with one slash and the prefix, however the configuration writes it (MAG quirk Q15)",
        arguments: [
            ("test", "/test"), ("/test", "/test"), ("//test/", "/test"), ("", ""), ("/", ""), ("a/b", "/a/b"),
        ])
    func prefix(written: String, normal: String) throws {
        let topics = try TopicNamespace(prefix: written, deviceID: "d")
        #expect(try topics.custom("t").name == normal + "/2.0/client/devices/d/custom/t")
    }

    @Test("topics cannot be redirected to another device by an identifier", arguments: ["a/b", "+", "#", "", "a\0"])
    func identifiers(_ id: String) throws {
        #expect(throws: MessagingError.self) { try TopicNamespace(prefix: "", deviceID: id) }
        let topics = try TopicNamespace(prefix: "", deviceID: "d")
        #expect(throws: MessagingError.self) { try topics.user(id, "t") }
    }

    @Test("topics whose last level is error are the broker's error reports (MAG 9.2)")
    func errors() {
        #expect(TopicNamespace.isError("/2.0/client/users/a/error"))
        #expect(!TopicNamespace.isError("/2.0/client/users/a/terror"))
    }
}

@Suite("Topic filters")
struct TopicFilterTests {
    @Test(
        "topic filters match as MQTT 3.1.1 section 4.7 says",
        arguments: [
            ("a/b", "a/b", true), ("a/b", "a/c", false), ("a/b", "a", false), ("a", "a/b", false),
            ("a/+", "a/b", true), ("a/+", "a", false), ("a/+", "a/", true), ("a/+", "a/b/c", false),
            ("+/b", "/b", true),
            ("+", "a", true), ("+", "/a", false), ("/+", "/a", true), ("+/+", "/a", true), ("a/+/c", "a/b/c", true),
            ("#", "a/b", true), ("#", "/", true), ("a/#", "a/b/c", true), ("a/#", "a", true), ("a/#", "ab", false),
            ("a/#", "a/", true), ("+/#", "a", true), ("/#", "a", false), ("a/b/#", "a", false),
            ("#", "$SYS/x", false), ("+/x", "$SYS/x", false), ("$SYS/#", "$SYS/x", true), ("a/#", "a/$x", true),
            ("a", "A", false), ("a//b", "a//b", true), ("a/+/b", "a//b", true),
        ])
    func matching(filter: String, topic: String, matches: Bool) throws {
        #expect(try TopicFilter(filter).matches(topic) == matches)
    }

    @Test(
        "topic filters contain wildcards only as whole levels, and # only at the end",
        arguments: ["a+", "a/b#", "#/a", "a/#/b", "+a/b", ""])
    func invalid(_ filter: String) {
        #expect(throws: MessagingError.self) { try TopicFilter(filter) }
    }
}
