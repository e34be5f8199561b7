import Cryptography
import Groundwork
import Testing

@testable import MPin

@Suite("Identities and dates")
struct IdentityTests {
    @Test("M-Pin identities are read in either case, kept as they came, and bounded (MPIN 2.2)")
    func hex() throws {
        let text = Hex.encode(Array(#"{ "userID":"Zoë","mobile":1}"#.utf8))
        let identity = try #require(MPinID(hex: text.uppercased()))
        #expect(identity.hex == text)
        #expect(identity == MPinID(hex: text))
        #expect(identity.hash == SHA256.hash(identity.bytes))
        for refused in ["", "0", "0g", " 00", "00\n"] { #expect(MPinID(hex: refused) == nil, "\(refused)") }
        #expect(MPinID(hex: String(repeating: "00", count: MPinID.limit)) != nil)
        #expect(MPinID(hex: String(repeating: "00", count: MPinID.limit + 1)) == nil)
        #expect(MPinID(bytes: []) == nil)
    }

    @Test("M-Pin identities name their user, in any order and spacing, or nobody (MPIN 5.5)")
    func userID() {
        func userID(_ text: String) -> String? { MPinID(bytes: Array(text.utf8))?.userID }
        #expect(userID(#"{"salt": "00", "userID" : "a@b"}"#) == "a@b")
        #expect(userID(#"{"userID":""}"#) == "")
        #expect(userID(#"{"userID":"Zo\u00eb \"Z\" \\ O\u2019Hara"}"#) == #"Zoë "Z" \ O’Hara"#)
        for text in [#"{"userId":"a"}"#, #"{"userID":1}"#, #"["userID"]"#, "userID", #"{"userID":"a""#] {
            #expect(userID(text) == nil, "\(text)")
        }
    }

    @Test(
        "M-Pin identities of the vectors are the octets of their text, if they are text",
        arguments: VectorFiles.authentications)
    func vectors(entry: VectorFiles.Entry) throws {
        guard let octets = entry.bytes("input", "mpin_id_hex"), let text = entry.text("input", "mpin_id_text"),
            String(validating: octets, as: UTF8.self) != nil
        else { return }
        #expect(octets == Array(text.utf8))
        guard let user = (try? JSON(parsing: text.utf8))?["userID"]?.string else { return }
        #expect(MPinID(bytes: octets)?.userID == user)
    }

    @Test("a number stands before a hashed identity only from 1 to 2^31 - 1 (MPIN 2.3, MPIN checklist 2)")
    func prefix() {
        #expect(MPinHash.hash([1, 2]) == SHA256.hash([1, 2]))
        #expect(MPinHash.hash([1, 2], after: 0) == SHA256.hash([1, 2]))
        #expect(MPinHash.hash([1, 2], after: 1) == SHA256.hash([0, 0, 0, 1, 1, 2]))
        #expect(MPinHash.hash([], after: .max) == SHA256.hash([0x7F, 0xFF, 0xFF, 0xFF]))
        for days: Int64 in [0, -1, 1 << 31, .max, .min] { #expect(MPinDate(days: days) == nil, "\(days)") }
        #expect(MPinDate(days: 1 << 31 - 1)?.days == .max)
        #expect(MPinDate(secondsSince1970: 1_699_890_579)?.days == 19_674)
    }
}
