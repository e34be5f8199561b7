import Groundwork
import Testing

@testable import Gateway

@Suite("The content of a signed body")
struct SignedContentTests {
    @Test(
        "the content of a signed body is what its type says (MAG 6.7)",
        arguments: [
            (#"{"b":1,"a":[true,null]}"#, "application/json", #"{"a":[true,null],"b":1}"#),
            ("7", "application/scim+json; charset=utf-8", "7"), ("ä", "text/plain", #""ä""#),
            ("<a/>", "application/xml", #""<a/>""#), ("<a/>", "Image/SVG+XML", #""<a/>""#),
            ("a=1&b=%C3%A4+x&a=&c", "application/x-www-form-urlencoded", #"{"a":["1",""],"b":["ä x"],"c":[""]}"#),
            ("?>?", "image/png", #""Pz4_""#), ("", "text/plain", #""""#),
        ])
    func kinds(body: String, type: String, expected: String) throws {
        let content = try SignedContent(Array(body.utf8), type: type)
        let value = try JSON(parsing: Array(expected.utf8))
        #expect(content.value == value)
        #expect(content.mediaType == type)
    }

    @Test("the content of a signed body is bytes where nothing says its type")
    func untyped() throws {
        let content = try SignedContent([0xFF, 0], type: nil)
        #expect(content.value == "_wA" && content.mediaType == "application/octet-stream")
    }

    @Test(
        "the content of a signed body is refused where it misses, or is not of its type (170001, 170003)",
        arguments: [
            ([0x7B], "application/json", 170_003), ([0xFF], "text/plain", 170_003),
            (Array("a=%zz".utf8), "application/x-www-form-urlencoded", 170_003),
            (Array("a=%FF".utf8), "application/x-www-form-urlencoded", 170_003), (nil, "text/plain", 170_001),
        ] as [([UInt8]?, String, Int)])
    func refused(body: [UInt8]?, type: String, number: Int) {
        #expect { try SignedContent(body, type: type) } throws: { error in
            (error as? GatewayError)?.explanation.gateway?.number == number
        }
    }
}
