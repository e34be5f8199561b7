import Testing

@testable import MPin

@Suite("Access numbers")
struct AccessNumberTests {
    @Test("access numbers of other lengths, or with checking off, are not checked (MPIN checklist 29)")
    func unchecked() {
        #expect(!AccessNumber.isAcceptable("6419791", digits: 7, usesCheckDigit: true))
        #expect(AccessNumber.isAcceptable("6418791", digits: 7, usesCheckDigit: true))
        #expect(AccessNumber.isAcceptable("4241703", digits: 7, usesCheckDigit: true))
        #expect(AccessNumber.isAcceptable("6419791", digits: 7, usesCheckDigit: false))
        #expect(AccessNumber.isAcceptable("6419791", digits: 6, usesCheckDigit: true))
        #expect(!AccessNumber.isAcceptable("", digits: 7, usesCheckDigit: false))
    }
}
