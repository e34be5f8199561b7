import Groundwork
import Testing

@testable import GatewayLab

extension GatewayLabTests {
    @Suite("Parsers of the lab")
    struct CodecTests {
        @Test("the lab reads a form strictly")
        func form() throws {
            let form = try #require(Parameters(form: "a=1&b=x%20y%2B+z&c&=d&e=%C3%A9".utf8))
            #expect(form["a"] == "1" && form["b"] == "x y+ z" && form["c"] == nil && form["e"] == "é")
            for broken in ["a=%", "a=%4", "a=%zz", "a=%FF", Array(repeating: "a=1", count: 65).joined(separator: "&")] {
                #expect(Parameters(form: broken.utf8) == nil, "\(broken.prefix(20))")
            }
            #expect(try #require(Parameters(form: "a=1&a=2".utf8)).hasDuplicates)
        }

        @Test("the lab ends a query at a second question mark (MAG quirk Q6)")
        func query() throws {
            let query = try #require(Parameters(query: "sessionData=abc&x=1?sessionData=def"))
            #expect(query["sessionData"] == "abc" && query["x"] == "1")
        }

        @Test(
            "the lab takes credentials that are complete Basic or Bearer, and refuses others",
            arguments: [
                ("Basic YTpiOmM=", Credentials.basic(name: "a", password: "b:c")),
                ("basic YTo=", .basic(name: "a", password: "")),
                ("Bearer xyz", .bearer("xyz")), ("Bearer", nil), ("Bearer a b", nil), ("Basic !!!", nil),
                ("Basic YQ==", nil),
                ("Basic /zo6", nil), ("Digest x", nil), ("", nil),
            ] as [(String, Credentials?)])
        func credentials(_ header: String, _ expected: Credentials?) {
            #expect(Credentials(header: header) == expected)
        }

        @Test(
            "the lab reads topics by their addressee (MAG 9.2)",
            arguments: [
                ("/2.0/client/devices/d/custom/t", "", GatewayTopic.device("d")),
                ("/2.0/client/devices/d/custom/#", "", .device("d")),
                ("/2.0/client/devices/d/status", "", .deviceStatus("d")),
                ("/2.0/client/users/u/custom/a/b", "", .user("u")),
                ("/2.0/users/u/custom/t", "", .user("u")), ("/2.0/client/custom/t", "", .application),
                ("/p/2.0/client/custom/t", "p", .application), ("/2.0/client/custom/t", "p", nil),
                ("/p/2.0/client/custom/t", "", nil),
                ("/2.0/client/devices/+/custom/t", "", nil), ("/2.0/client/devices/#", "", nil),
                ("/2.0/devices/d/custom/t", "", nil),
                ("/2.0/client/users/u/custom", "", nil), ("/2.0/client/users//custom/t", "", nil), ("#", "", nil),
                ("", "", nil),
                ("2.0/client/custom/t", "", nil), ("$SYS/broker", "", nil), ("/2.0/client/devices/d/status/x", "", nil),
            ] as [(String, String, GatewayTopic?)])
        func topics(_ topic: String, _ prefix: String, _ expected: GatewayTopic?) {
            #expect(GatewayTopic(topic, prefix: prefix) == expected)
        }

        @Test("the lab's QR code holds a long URL and refuses what is too long")
        func qrCode() throws {
            let code = try #require(QRCode(String(repeating: "a", count: 600)))
            #expect(code.width > 80 && code.isDark(row: 0, column: 0) && !code.isDark(row: -1, column: 0))
            #expect(QRCode(String(repeating: "a", count: 3000)) == nil && QRCode("") == nil)
        }
    }
}
