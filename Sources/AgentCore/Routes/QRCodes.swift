import Groundwork
import LocalAPI
import Proximity

extension Schema {
    package static var qrCode: Schema { QRCode.answer.schema() }
}

extension QRCode {
    /// The code as data: its text, and images for a display or a web page.
    package func json(of text: String) -> JSON { Self.answer.json((self, text)) }

    fileprivate static let answer: Answer<(code: QRCode, text: String)> = [
        "text": .schema(Schema.string("the content to show").asSensitive) { $0.text },
        "svg": .schema(Schema.string("a picture of it").asSensitive) { $0.code.svg },
        "png": .schema(Schema.base64("a picture of it").asSensitive) { Base64.encode($0.code.png(scale: 4)) },
    ]
}

extension RequestBody {
    /// Where a program of this machine waits for the browser.
    ///
    /// - Throws: ``AgentError/badRequest(member:fault:)``
    package func loopbackPort() throws(AgentError) -> UInt16? {
        try optionalInteger("loopbackPort", in: 1...65535).map { UInt16($0) }
    }
}
