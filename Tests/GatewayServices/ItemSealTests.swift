import Cryptography
import Groundwork
import Testing

@testable import GatewayServices

@Suite("Sealed items")
struct ItemSealTests {
    private let seal: ItemSeal
    private let place = ItemSeal.Place(segment: .applicationUser, user: "alice", key: "door.code")

    init() throws { seal = ItemSeal(try .random(AESGCM.keyBytes)) }

    @Test("a sealed item is text without its value, and opens again with its type", arguments: ["", "4711", "ä\u{0}"])
    func roundTrip(value: String) throws {
        let sealed = try seal.seal(Array(value.utf8), type: "a/b", at: place)
        #expect(ItemSeal.isSealed(sealed) && sealed.allSatisfy { (0x21...0x7E).contains($0) })
        #expect(try sealed != seal.seal(Array(value.utf8), type: "a/b", at: place))
        let opened = try seal.open(sealed, at: place)
        #expect(opened.type == "a/b" && opened.value == Array(value.utf8))
        #expect(!ItemSeal.isSealed(Array(value.utf8)))
    }

    @Test("a sealed item that was changed in any byte, or moved to another key, segment or user, is refused")
    func changed() throws {
        let sealed = try seal.seal(Array("4711".utf8), type: "a/b", at: place)
        for other in [
            ItemSeal.Place(segment: .applicationUser, user: "alice", key: "door.code2"),
            ItemSeal.Place(segment: .user, user: "alice", key: "door.code"),
            ItemSeal.Place(segment: .applicationUser, user: "bob", key: "door.code"),
            ItemSeal.Place(segment: .applicationUser, user: nil, key: "door.code"),
        ] {
            #expect(throws: ItemError.sealBroken(key: other.key)) { try seal.open(sealed, at: other) }
        }
        for index in "latchkey-sealed-1.".utf8.count..<sealed.count {
            var changed = sealed
            changed[index] = changed[index] == 0x41 ? 0x42 : 0x41
            #expect(throws: ItemError.self, "\(index)") { try seal.open(changed, at: place) }
        }
        for text in ["latchkey-sealed-1.", "latchkey-sealed-1.a.b.c", "latchkey-sealed-1.0.A"] {
            #expect(throws: ItemError.sealBroken(key: place.key)) { try seal.open(Array(text.utf8), at: place) }
        }
    }

    @Test("an item that another board sealed is refused as such")
    func elsewhere() throws {
        let other = ItemSeal(try .random(AESGCM.keyBytes))
        let sealed = try other.seal(Array("4711".utf8), type: "a/b", at: place)
        #expect(throws: ItemError.sealedElsewhere(key: place.key)) { try seal.open(sealed, at: place) }
    }
}
