import Groundwork

/// An error of a room that the server knows nothing of.
enum Refusal: Explained, Equatable {
    case teapot
    case unlisted

    var code: String { self == .teapot ? "kitchen.teapot" : "cellar.flooded" }
    var message: String { self == .teapot ? "it is a teapot" : "the cellar is flooded" }
    var remedy: String? { self == .teapot ? "ask the coffee machine" : nil }
}
