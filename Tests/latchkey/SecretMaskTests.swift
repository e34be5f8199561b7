import Groundwork
import Testing

@testable import latchkey

@Suite("Secrets are masked")
struct SecretMaskTests {
    private static let key = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMG\n-----END PRIVATE KEY-----"

    @Test(
        "in what others will read",
        arguments: [
            ("password = \"hunter 2\" # ours", "password = \"[masked]\" # ours"),
            ("{\"client_secret\":\"a\\\"b\",\"n\":1}", "{\"client_secret\":\"[masked]\",\"n\":1}"),
            ("\"{\\\"password\\\":\\\"a b\\\",", "\"{\\\"password\\\":\\\"[masked]\\\","),
            ("{\"pin\":4711,\"pins\":[\"x\"]}", "{\"pin\":[masked],\"pins\":[\"x\"]}"),
            ("PIN: 4711; next", "PIN: [masked]; next"),
            ("access_token=abc&state=x", "access_token=[masked]&state=x"),
            ("grant_type=authorization_code&code=xyz", "grant_type=authorization_code&code=[masked]"),
            ("Authorization: Digest user=a, b=c\nnext", "Authorization: [masked]\nnext"),
            ("header Bearer abc.def-123 sent", "header Bearer [masked] sent"),
            ("mqtts://user:pw@broker.example:8883/x", "mqtts://[masked]@broker.example:8883/x")
                as (String, String),
            ("see https://gw.example/connect?ticket=1&h=2, then", "see https://gw.example/connect?[masked] then"),
            ("http://localhost/cb#id_token=abc end", "http://localhost/cb#[masked] end"),
            ("before \(key) after", "before [masked] after"),
            ("before -----BEGIN EC PRIVATE KEY-----\nMIGH and no end", "before [masked]"),
            ("{\"k\":\"-----BEGIN PRIVATE KEY-----\\nMIG\\n-----END PRIVATE KEY-----\\n\"}", "{\"k\":\"[masked]\\n\"}"),
            ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl.", "got [masked]"),
            ("got 7f3a9c0d1e2b4f5a6c7d8e9f0a1b2c3d now", "got [masked] now"),
            ("got Zm9vYmFyMTIzNDU2Nzg5MA== now", "got [masked] now"),
        ])
    func masked(text: String, expected: String) { #expect(SecretMask().masked(text) == expected) }

    @Test(
        "and nothing else",
        arguments: [
            "{\"token\":{\"age\":3,\"lifeLeft\":57},\"token\":true,\"error\":{\"code\":\"agent.not-enrolled\"}}",
            "-----BEGIN CERTIFICATE-----\nMIGH\n-----END CERTIFICATE-----", "password = \"{token}\"",
            "client_id = \"{mag-identifier}::{client}\"", "2027-11-21T03:54:22Z gateway.device-did-register",
            "/var/lib/latchkey/outbox-1.db-wal 6.1.0-25-cloud-amd64 libmicrohttpd.so.12",
            "the token is 3 s old; no password was asked for", "https://gw.example:8443/prefix/", "",
        ])
    func kept(text: String) { #expect(SecretMask().masked(text) == text) }

    @Test("but not the identifiers that are named")
    func identifiers() {
        let text = "device e9464f757b3ea677d1ba0b6cdc6154bb and 9d3cbf7d-99a5-4ac9-aa0a-ffff28f13112"
        #expect(SecretMask().masked(text) == "device [masked] and [masked]")
        let known: Set = ["e9464f757b3ea677d1ba0b6cdc6154bb", "9d3cbf7d-99a5-4ac9-aa0a-ffff28f13112"]
        #expect(SecretMask(keeping: known).masked(text) == text)
        #expect(SecretMask(masksOpaque: false).masked(text) == text)
    }

    @Test("of settings by their keys, unless they stand for what others have")
    func settings() {
        let mask = SettingsReport.mask
        #expect(mask.masked("none", of: "broker.password") == "[masked]")
        #expect(mask.masked("{token}", of: "broker.password") == "{token}")
        #expect(mask.masked("", of: "broker.password") == "")
        #expect(mask.masked("/etc/p", of: "brokers.password_file") == "/etc/p")
        #expect(
            mask.masked([["command": ["/bin/x", "--token=abc"], "password": "b"]], of: "actions")
                == [["command": ["/bin/x", "--token=[masked]"], "password": "[masked]"]])
    }

    @Test("gzip's checksum is that of RFC 1952")
    func checksum() { #expect(Gzip.checksum(Array("123456789".utf8)) == 0xCBF4_3926) }
}
