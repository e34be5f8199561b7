import Foundation
import Testing

@testable import Messaging

@Suite("Message envelope")
struct EnvelopeTests {
    private let date = Date(timeIntervalSince1970: 1_767_225_600)

    @Test("a message envelope is written as in MAG 9.3 (MAG checklist 40)")
    func encoding() throws {
        let envelope = Envelope(from: "alice", .user, sentAt: date, payload: Array("hi".utf8))
        let text = String(decoding: try envelope.encode(), as: UTF8.self)
        #expect(
            text == #"{"ContentEncoding":"BASE64","ContentType":"text/plain","DisplayName":"alice","Payload":"aGk=","#
                + #""SenderId":"alice","SenderType":"USER","SentTime":1767225600000,"Version":"1.0"}"#)
    }

    @Test("a message envelope comes back as it was written")
    func roundTrip() throws {
        let envelope = Envelope(
            from: "3f9a", .device, displayName: "Küche \"1\"", sentAt: date, contentType: "application/json",
            payload: Array(0...255), topic: "news")
        #expect(Envelope(decoding: try envelope.encode()) == envelope)
        let long = Envelope(from: "a", .device, sentAt: date, payload: [UInt8](repeating: 7, count: 1000))
        #expect(!(try long.encode()).contains(UInt8(ascii: "\n")))
    }

    @Test("a message envelope needs a payload")
    func empty() {
        #expect(throws: MessagingError.emptyPayload) {
            try Envelope(from: "a", .device, sentAt: date, payload: []).encode()
        }
    }

    @Test(
        "a message envelope of either reference client is read",
        arguments: [
            #"{"Version":"1.0","SenderId":"bob","SenderType":"user","DisplayName":"Bob","SentTime":1767225600000,"ContentType":"text/plain","ContentEncoding":"BASE64","Payload":"aGVsbG8gd29ybGQ="}"#,
            #"{"Version":"1.0","SenderId":"bob","SenderType":"USER","DisplayName":"Bob","SentTime":1767225600000,"ContentType":"text/plain","ContentEncoding":"UTF-8","Payload":"aGVsbG8g\r\nd29ybGQ=\r\n"}"#,
            " \n{\"SenderId\":\"bob\",\"DisplayName\":\"Bob\",\"SentTime\":1767225600000,\"Payload\":\"aGVsbG8gd29ybGQ=\",\"ForwardedTime\":1}",
        ])
    func referenceClients(_ text: String) throws {
        let envelope = try #require(Envelope(decoding: Array(text.utf8)))
        #expect(
            envelope
                == Envelope(
                    from: "bob", .user, displayName: "Bob", sentAt: date, payload: Array("hello world".utf8)))
    }

    @Test(
        "an envelope without SentTime, or with one that is no number, is one that does not say when it was sent",
        arguments: [
            #"{"SenderId":"bob","Payload":"aGk="}"#, #"{"Version":"1.0","SenderId":"bob","Payload":"aGk="}"#,
            #"{"SenderType":"USER","SenderId":"bob","SentTime":"soon","Payload":"aGk="}"#,
        ])
    func untimed(_ text: String) throws {
        let envelope = try #require(Envelope(decoding: Array(text.utf8)))
        #expect(envelope == Envelope(from: "bob", .user, sentAt: nil, payload: Array("hi".utf8)))
        #expect(Envelope(decoding: try envelope.encode()) == envelope)
    }

    @Test(
        "a payload without JSON object, base 64 Payload or another member of envelopes is not an envelope and is delivered raw",
        arguments: [
            "", "21.5", "[]", "{", "null", #"{"t":21.5}"#, #"{"SentTime":1,"Payload":""}"#,
            #"{"SentTime":1,"Payload":"*"}"#,
            #"{"Payload":"aGk="}"#, #"{"SentTime":"1","Payload":"aGk="}"#, #"{"SentTime":1}"#,
            #"{"SentTime":1,"Payload":5}"#,
        ])
    func raw(_ text: String) { #expect(Envelope(decoding: Array(text.utf8)) == nil) }

    @Test("an envelope beyond the limit is not parsed, and a field beyond its limit is omitted")
    func bounds() throws {
        let long = String(repeating: "x", count: 5000)
        let text = #"{"SenderId":"\#(long)","SentTime":1,"Payload":"aGk="}"#
        #expect(try #require(Envelope(decoding: Array(text.utf8))).senderID == nil)
        let huge = #"{"SentTime":1,"Payload":"\#(String(repeating: "AAAA", count: Envelope.limit / 4))"}"#
        #expect(Envelope(decoding: Array(huge.utf8)) == nil)
    }
}
