import Testing

@testable import Gateway

@Suite("A location")
struct LocationTests {
    @Test(
        "a location is written with six decimals and a dot (MAG checklist 29)",
        arguments: [
            (49.2827, -123.1207, "49.282700,-123.120700"), (0, 0, "0.000000,0.000000"),
            (-0.0000001, 0.0000005, "0.000000,0.000001"), (-90, 180, "-90.000000,180.000000"),
            (1.9999999, -0.000001, "2.000000,-0.000001"), (48.858370, 2.294481, "48.858370,2.294481"),
        ])
    func header(latitude: Double, longitude: Double, text: String) throws {
        let location = try #require(Location(latitude: latitude, longitude: longitude))
        #expect(location.header == text)
        #expect(!"\(location)".contains("0"), "a log must not say where it is")
    }

    @Test(
        "a location is on Earth",
        arguments: [(90.1, 0), (-91, 0), (0, 180.5), (0, -181), (.nan, 0), (0, .infinity)] as [(Double, Double)])
    func nowhere(latitude: Double, longitude: Double) {
        #expect(Location(latitude: latitude, longitude: longitude) == nil)
    }
}
