import Groundwork
import LocalAPI
import Proximity

extension Schema {
    package static var qrCode: Schema {
        object(
            [
                "text": Schema.string("the content to show").asSensitive,
                "svg": Schema.string("a picture of it").asSensitive,
                "png": Schema.base64("a picture of it").asSensitive,
            ], required: ["text", "svg", "png"])
    }
}

extension QRCode {
    /// The code as data: its text, and images for a display or a web page.
    package func json(of text: String) -> JSON {
        ["text": .string(text), "svg": .string(svg), "png": .string(Base64.encode(png(scale: 4)))]
    }
}

extension RequestBody {
    /// Where a program of this machine waits for the browser.
    ///
    /// - Throws: ``AgentError/badRequest(member:fault:)``
    package func loopbackPort() throws(AgentError) -> UInt16? {
        try optionalInteger("loopbackPort", in: 1...65535).map { UInt16($0) }
    }
}
