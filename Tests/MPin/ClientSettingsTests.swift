import Groundwork
import HTTPClient
import Testing

@testable import MPin

@Suite("The settings of an M-Pin back end")
struct ClientSettingsTests {
    private func settings(_ json: JSON, of base: String = "https://mpin.example.org/app") throws -> ClientSettings {
        try ClientSettings(Answer(json.bytes, from: "URL"), of: base)
    }

    @Test("M-Pin settings have addresses completed and web sockets replaced (MPIN 5.2, MPIN checklist 17)")
    func rewriting() throws {
        let settings = try settings([
            "registerURL": "/rps/user", "signatureURL": "wss://other.example.org/signature",
            "timePermitsURL": "ws://127.0.0.1:80/timePermit", "mpinAuthServerURL": "https://rps.example.org/rps",
            "timePermitsStorageURL": "", "appID": "a0b1", "anything": "/else",
        ])
        #expect(settings[.registration] == "https://mpin.example.org/app/rps/user")
        #expect(settings[.signature] == "https://other.example.org/signature")
        #expect(settings[.timePermits] == "http://127.0.0.1:80/timePermit")
        #expect(settings[.passes] == "https://rps.example.org/rps")
        #expect(settings[.timePermitsStorage].isEmpty && settings[.codeStatus].isEmpty)
        #expect(settings["appID"] == "a0b1" && settings["anything"] == "https://mpin.example.org/app/else")
    }

    @Test(
        "the second M-Pin authority's address ends in one slash (MPIN 5.2, MPIN checklist 17)",
        arguments: [
            ("https://dta.example.org", "https://dta.example.org/"), ("/dta/", "https://mpin.example.org/app/dta/"),
            ("/dta", "https://mpin.example.org/app/dta/"), ("", ""),
        ])
    func secondAuthority(written: String, used: String) throws {
        #expect(try settings(["certivoxURL": .string(written)]).secondAuthority == used)
    }

    @Test("M-Pin settings have presets, and no check digits by the old method (MPIN 5.4, MPIN checklist 17)")
    func presets() throws {
        let none = try settings([:])
        #expect(none.usesPermits && none.accessNumberDigits == 7)
        #expect(!none.checksAccessNumbers && !none.asksForDeviceName)
        let rows: [(JSON, Bool)] = [
            (["cSum": 1], true), (["cSum": 0], false), (["cSum": 1.0, "accessNumberUseCheckSum": true], true),
            (["cSum": 1, "accessNumberUseCheckSum": false], false), (["accessNumberUseCheckSum": true], false),
        ]
        for (json, checks) in rows { #expect(try settings(json).checksAccessNumbers == checks, "\(json.text)") }
        let other = try settings(["usePermits": false, "accessNumberDigits": 6.0, "setDeviceName": true])
        #expect(!other.usesPermits && other.accessNumberDigits == 6 && other.asksForDeviceName)
    }

    @Test("M-Pin settings are read as text by the application, whatever their type (MPIN 5.4)")
    func texts() throws {
        let settings = try settings(["a": 7, "b": 7.0, "c": true, "d": false, "e": "text", "f": nil, "g": [1], "h": -3])
        #expect(
            ["a", "b", "c", "d", "e", "f", "g", "h", "i"].map { settings[$0] } == [
                "7", "7", "true", "false", "text", "", "", "-3", "",
            ])
    }

    @Test(
        "M-Pin settings with members of a wrong type are refused (MPIN 5.1)",
        arguments: [
            ["registerURL": 1], ["certivoxURL": ["/"]], ["usePermits": "true"], ["accessNumberDigits": 6.5],
            ["cSum": "1"], ["accessNumberUseCheckSum": 1], ["setDeviceName": "no"],
        ] as [JSON])
    func wrongTypes(json: JSON) {
        #expect(throws: MPinError.self) { try settings(json) }
    }

    @Test("M-Pin settings name addresses of this machine or protected ones only")
    func addresses() {
        for text in [
            "https://mpin.example.org/x?y=z", "http://127.0.0.1:80/x", "http://localhost", "http://[::1]:8080/",
        ] {
            #expect(WebAddress(text) != nil, "\(text)")
        }
        for text in [
            "http://mpin.example.org/", "http://127.0.0.1.example.org/", "http://localhost:0/", "ftp://127.0.0.1/",
            "http://127.0.0.1@evil.example/", "https://user@evil.example/", "https://a b/", "/rps", "", "file:///etc",
            "http://127.0.0.1:80@evil.example/",
        ] {
            #expect(WebAddress(text) == nil, "\(text)")
        }
    }
}

@Suite("The configuration of an M-Pin account")
struct ConfigurationTests {
    @Test("the configuration of an M-Pin account is read with both spellings of its members (MPIN 6)")
    func spellings() throws {
        let one = try MPinConfiguration([
            "backend": "https://mpin.example.org/app//", "rps_prefix": "other", "headers": ["X-One": "1"],
            "clientID": "client",
        ])
        #expect(one.url == "https://mpin.example.org/app" && one.prefix == "other")
        #expect(one.key == "mpin.example.org/app" && one.clientID == "client")
        #expect(one.settingsURL == "https://mpin.example.org/app/other/clientSettings")
        #expect(try MPinConfiguration(one.document) == one)
        let older = try MPinConfiguration(["RPA_server": "http://127.0.0.1:1/", "rpsPrefix": "old"])
        #expect(older.prefix == "old" && older.key == "127.0.0.1:1")
        #expect(try MPinConfiguration(["backend": "https://h"]).prefix == "rps")
    }

    @Test(
        "the configuration of an M-Pin account is refused where a request could go wrong with it",
        arguments: [
            [:], ["backend": "http://mpin.example.org"], ["backend": "https://h/?x"], ["backend": ""],
            ["backend": "https://h", "rps_prefix": "a?b"], ["backend": "https://h", "headers": ["Host": "x"]],
            ["backend": "https://h", "headers": ["A B": "x"]], ["backend": "https://h", "headers": ["A": "x\r\nB: y"]],
            ["backend": "https://h", "headers": ["content-type": "x"]], ["backend": "https://h", "headers": ["A": 1]],
            ["backend": "https://h", "clientID": "a\nb"], ["backend": "https://h", "authorities": "none"],
        ] as [JSON])
    func refused(document: JSON) {
        #expect(throws: MPinError.self) { try MPinConfiguration(document) }
    }
}
