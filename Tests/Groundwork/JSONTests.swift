import Groundwork
import Testing

@Suite("JSON")
struct JSONTests {
    @Test("JSON of every kind of value is read and written back with its keys in order")
    func roundTrip() throws {
        let text = #"{"a":[1,2.5,true,null,"x"],"b":{"c":-9007199254740993},"d":""}"#
        #expect(try JSON(parsing: Array(text.utf8)).text == text)
    }

    @Test("JSON booleans and numbers stay apart")
    func kinds() throws {
        let value = try JSON(parsing: Array("[true,1,1.0,\"1\"]".utf8))
        #expect(value[0]?.bool == true)
        #expect(value[0]?.integer == nil)
        #expect(value[1]?.integer == 1)
        #expect(value[1]?.bool == nil)
        #expect(value[2]?.integer == 1)
        #expect(value[3]?.integer == nil)
    }

    @Test("JSON strings are escaped where they have to be")
    func escapes() throws {
        let value = JSON.string("a\"b\\c\n\r\t\u{01}\u{7F}ü")
        #expect(value.text == #""a\"b\\c\n\r\t\u0001\u007fü""#)
        #expect(try JSON(parsing: value.bytes) == value)
    }

    @Test("JSON of any other form is refused", arguments: ["", "{", "[1 2]", "{\"a\":}", "nul", "\"\u{01}\"", "[1] x"])
    func malformed(text: String) {
        #expect(throws: JSONError.malformed) { try JSON(parsing: Array(text.utf8)) }
    }

    @Test("JSON beyond its limit is refused before it is read")
    func tooLong() {
        #expect(throws: JSONError.tooLong(bytes: 6, limit: 5)) { try JSON(parsing: Array("\"abcd\"".utf8), limit: 5) }
    }

    @Test("JSON nested deep enough to exhaust the stack is refused")
    func nesting() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: JSONError.malformed) { try JSON(parsing: Array(deep.utf8)) }
    }

    @Test("JSON has whole numbers without a fraction, and null for what is no number")
    func numbers() {
        #expect(
            ([.number(22_909_972_480), .number(-0.5), .number(1e300), .number(.nan)] as JSON).text
                == "[22909972480,-0.5,1e+300,null]")
    }

    @Test("JSON is laid out for people on request")
    func pretty() {
        #expect((["a": [1], "b": [:]] as JSON).prettyText == "{\n  \"a\": [\n    1\n  ],\n  \"b\": {}\n}")
    }
}
