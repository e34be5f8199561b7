import Groundwork
import Testing

@testable import Directories

@Suite("Filters of users and groups")
struct SCIMFilterTests {
    private func encoded(_ text: String, _ spelling: SCIMFilter.Spelling) throws -> String {
        try #require(
            PercentEncoding.decode(try SCIMFilter(text).encoded(spelling).utf8)
                .flatMap { String(validating: $0, as: UTF8.self) })
    }

    @Test(
        "filters of users have all operators, and one comparison is the same in both spellings",
        arguments: SCIMFilter.Operator.allCases.map { #"userName \#($0) "a b""# } + [
            "name.familyName pr", "active eq true", "age gt 3", "nickName eq null",
            #"urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J""#, #"members.$ref eq "x \"y\" \\""#,
        ])
    func single(text: String) throws {
        #expect(try encoded(text, .standard) == text)
        #expect(try encoded(text, .repeated) == text)
    }

    @Test(
        "joined filters of users are written in either spelling, and read from either",
        arguments: [
            (#"a eq "1" or b sw "2""#, #"a eq "1" or b sw "2""#, #"a eq "1" or filter=b sw "2""#),
            (#"a pr AND filter=b pr and c pr"#, "a pr and b pr and c pr", "a pr and filter=b pr and filter=c pr"),
            ("a pr not filter=b pr", "a pr and not (b pr)", "a pr not filter=b pr"),
            ("filter=a pr or b pr and c pr", "a pr or b pr and c pr", "a pr or filter=b pr and filter=c pr"),
            ("(a pr or b pr) and c pr", "(a pr or b pr) and c pr", nil),
            ("a pr and (b pr or c pr)", "a pr and (b pr or c pr)", nil),
            ("not (a pr)", "not (a pr)", nil), ("not a pr and b pr", "not (a pr) and b pr", nil),
            ("a pr and not (b pr or c pr)", "a pr and not (b pr or c pr)", nil),
        ] as [(String, String, String?)])
    func joined(text: String, standard: String, repeated: String?) throws {
        #expect(try encoded(text, .standard) == standard)
        if let repeated {
            #expect(try encoded(text, .repeated) == repeated)
            #expect(try SCIMFilter(repeated) == SCIMFilter(standard))
        } else {
            #expect(throws: DirectoryError.self) { try encoded(text, .repeated) }
        }
    }

    @Test("the repeated spelling of a filter is sent with another filter= that the server sees as such")
    func wire() throws {
        var query = SCIMQuery(filter: try SCIMFilter(#"a sw "x" or b ew "y""#))
        query.spelling = .repeated
        #expect(
            try query.text()
                == "?filter=a%20sw%20%22x%22%20or%20filter=b%20ew%20%22y%22&startIndex=1&count=12")
    }

    @Test(
        "invalid filters of users are refused",
        arguments: [
            "", "a", "a eq", "a is 1", "eq eq", "a eq b", #"a eq "b"#, "a pr b", "(a pr", "a pr)", "a pr and",
            "and a pr",
            "a eq {}", "a eq [1]", "a\npr", "a pr or or b pr", "-a pr",
            String(repeating: "(", count: 40) + "a pr" + String(repeating: ")", count: 40),
            #"a eq "\#(String(repeating: "x", count: 3000))""#,
        ])
    func refused(text: String) {
        #expect(throws: DirectoryError.self) { try SCIMFilter(text) }
    }

    @Test("lists of users are asked for in the public clients' order: filter, sort, attributes, paging")
    func query() throws {
        var query = SCIMQuery(filter: .equals("userName", "a&b"))
        (query.sortBy, query.order) = ("name.familyName", .descending)
        (query.startIndex, query.count) = (13, 12)
        query.attributes = .only(["userName", "name.givenName"])
        #expect(
            try query.text() == "?filter=userName%20eq%20%22a%26b%22&sortBy=name.familyName&sortOrder=descending"
                + "&attributes=userName,name.givenName&startIndex=13&count=12")
        query.attributes = .without(["photos"])
        #expect(try query.text().contains("&excludedAttributes=photos&startIndex"))
        for broken in [SCIMQuery.Attributes.only([]), .only(["a b"]), .without(["x&y"])] {
            query.attributes = broken
            #expect(throws: DirectoryError.self) { try query.text() }
        }
        query.attributes = nil
        for (start, count) in [(0, 1), (1, 0), (1, 201)] {
            (query.startIndex, query.count) = (start, count)
            #expect(throws: DirectoryError.self) { try query.text() }
        }
    }
}
