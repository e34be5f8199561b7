import Testing

@testable import Board

@Suite("Number of a driver")
struct DriverNumberTests {
    @Test(
        "a driver's number is a decimal with white space after it",
        arguments: [
            ("21500\n", 21_500), ("-12340\n", -12_340), ("101.324997070\n", 101.32499707), ("+5", 5), ("0 \n", 0),
        ])
    func reads(text: String, value: Double) {
        #expect(DriverNumber.parse(text.utf8) == value)
    }

    @Test(
        "a driver's number does not accept anything else",
        arguments: [
            "", "\n", "-", ".5", "5.", "1e3", "0x10", "nan", "inf", "1 2", " 5", "5 C", "5\0", "--5", "1.2.3", "١٢",
            "1" + String(repeating: "0", count: 400),
        ])
    func refuses(text: String) {
        #expect(DriverNumber.parse(text.utf8) == nil)
    }

    @Test("a driver's number is quoted without control characters if it is invalid")
    func excerpt() {
        #expect(DriverNumber.excerpt("no\u{1B}[2J value".utf8) == "no?[2J value")
        #expect(DriverNumber.excerpt(String(repeating: "x", count: 100).utf8).count == 32)
    }
}
