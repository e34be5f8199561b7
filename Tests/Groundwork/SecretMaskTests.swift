import Testing

@testable import Groundwork

@Suite("Masking of secrets")
struct SecretMaskTests {
    private static let key = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMG\n-----END PRIVATE KEY-----"

    @Test(
        "secrets are masked in what others will read",
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
            ("ran /bin/x --password hunter2 --token abc -v", "ran /bin/x --password [masked] --token [masked] -v"),
            ("ran x --pass 'hunter 2' --api-key=k end", "ran x --pass '[masked]' --api-key=[masked] end"),
            (
                "[\"/bin/x\",\"--token\",\"abc\", \"--psk\", \"a b\"]",
                "[\"/bin/x\",\"--token\",\"[masked]\", \"--psk\", \"[masked]\"]"
            ),
            (
                "{\"l\":\"ran \\\"--password\\\",\\\"hunter2\\\"\"}",
                "{\"l\":\"ran \\\"--password\\\",\\\"[masked]\\\"\"}"
            ),
            ("curl -u bob:pw http://h/", "curl -u [masked] http://h/"),
            ("[\"curl\",\"-u\",\"bob:pw\"]", "[\"curl\",\"-u\",\"[masked]\"]"),
            (
                "psk=abc pwd = \"d\" pass=e key=f access_key: g",
                "psk=[masked] pwd = \"[masked]\" pass=[masked] key=[masked] access_key: [masked]"
            ),
            ("{\"key\":\"abc\",\"wifiPass\":\"d\"}", "{\"key\":\"[masked]\",\"wifiPass\":\"[masked]\"}"),
            (
                "https://hooks.example/services/T02/B03/aB3dE5fG7hJ9kL1mN3pQ5rS7",
                "https://hooks.example/services/T02/B03/[masked]"
            ),
            (
                "see https://gw.example/auth/device/authorization/9b2f44d0c7a1e6835d90b1f27c4e8a63?x=1 now",
                "see https://gw.example/auth/device/authorization/[masked]?[masked] now"
            ),
        ])
    func masked(text: String, expected: String) { #expect(SecretMask().masked(text) == expected) }

    @Test(
        "text that is not a secret is not masked",
        arguments: [
            "{\"token\":{\"age\":3,\"lifeLeft\":57},\"token\":true,\"error\":{\"code\":\"agent.not-enrolled\"}}",
            "-----BEGIN CERTIFICATE-----\nMIGH\n-----END CERTIFICATE-----", "password = \"{token}\"",
            "client_id = \"{mag-identifier}::{client}\"", "2027-11-21T03:54:22Z gateway.device-did-register",
            "/var/lib/latchkey/outbox-1.db-wal 6.1.0-25-cloud-amd64 libmicrohttpd.so.12",
            "the token is 3 s old; no password was asked for", "https://gw.example:8443/prefix/", "",
            "journalctl -u latchkey.service --no-pager -q", "the key: it is bypassed; bypass=1 compass: north",
            "tls --key /etc/ssl/private/board.key key = \"/etc/x.key\" PWD=/root",
            "pass --verbose, --token, or nothing",
            "publicKey=abc \"verdict\":\"pass\",\"pass\",3", "topic /2.0/client/devices/x/custom/orders/#",
            "https://gw.example/openid/connect/v1/configuration-2.html",
            "--topic sensors/door-17 --id board-0042 --host h",
        ])
    func kept(text: String) { #expect(SecretMask().masked(text) == text) }

    @Test("identifiers that are named are not masked")
    func identifiers() {
        let text = "device e9464f757b3ea677d1ba0b6cdc6154bb and 9d3cbf7d-99a5-4ac9-aa0a-ffff28f13112"
        #expect(SecretMask().masked(text) == "device [masked] and [masked]")
        let known: Set = ["e9464f757b3ea677d1ba0b6cdc6154bb", "9d3cbf7d-99a5-4ac9-aa0a-ffff28f13112"]
        #expect(SecretMask(keeping: known).masked(text) == text)
        #expect(SecretMask(masksOpaque: false).masked(text) == text)
        let url = "https://gw.example/devices/e9464f757b3ea677d1ba0b6cdc6154bb"
        #expect(SecretMask(masksOpaque: false).masked(url) == "https://gw.example/devices/[masked]")
        #expect(SecretMask(keeping: known).masked(url) == url)
        let setting = "{\"key\":\"broker.port\"}"
        #expect(SecretMask(keeping: ["broker.port"]).masked(setting) == setting)
    }

    @Test("secrets of settings are masked by their keys, unless they stand for what others have")
    func settings() {
        let mask = SecretMask(masksOpaque: false)
        #expect(mask.masked("none", of: "broker.password") == "[masked]")
        #expect(mask.masked("{token}", of: "broker.password") == "{token}")
        #expect(mask.masked("", of: "broker.password") == "")
        #expect(mask.masked("/etc/p", of: "brokers.password_file") == "/etc/p")
        #expect(mask.masked("/etc/ssl/private/board.key", of: "key") == "/etc/ssl/private/board.key")
        #expect(mask.masked("/9j4AAQSkZJRgABAQEAYABgAAD", of: "key") == "[masked]")
        #expect(
            mask.masked([["command": ["/bin/x", "--token=abc"], "password": "b"]], of: "actions")
                == [["command": ["/bin/x", "[masked]"], "password": "[masked]"]])
        #expect(
            mask.masked(["/bin/x", "--password", "hunter2", "--token", "abc123"], of: "actions[0].command")
                == ["/bin/x", "[masked]", "[masked]", "[masked]", "[masked]"])
        #expect(mask.masked(["curl", "-u", "bob:pw"], of: "command") == ["curl", "[masked]", "[masked]"])
        for name in ["psk", "pwd", "pass", "key", "access_key", "hosts.wifi_pass"] {
            #expect(mask.masked("ab1", of: name) == "[masked]")
        }
        let ordinary: JSON = [
            "filter": "orders/#", "topic": "telemetry", "key": "/etc/ssl/board.key", "host": "gw.example",
            "names": ["a", "b"],
            "client_id": "e9464f757b3ea677d1ba0b6cdc6154bb", "keypad": "none", "url": "https://gw.example:8443/v1/x",
            "command": ["/usr/bin/door"], "preload_keys": "announced",
        ]
        #expect(mask.masked(ordinary, of: "actions") == ordinary)
    }
}
