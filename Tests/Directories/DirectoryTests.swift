import Groundwork
import HTTPClient
import Testing

@testable import Directories

@Suite("A directory of users and groups")
struct DirectoryTests {
    private func directory(_ answering: Answering) -> Directory {
        Directory(server: answering, base: "/SCIM/MAS/v2/")
    }

    @Test("a directory's user by id is an object, or a list of one, as gateways differ")
    func byID() async throws {
        for body in [#"{"id":"7","userName":"al"}"#, #"{"totalResults":1,"Resources":[{"id":"7","userName":"al"}]}"#] {
            let answering = Answering((200, body))
            #expect(try await directory(answering).find(.user, .id("a/7"))["userName"] == "al")
            #expect(answering.requests[0].path == "/SCIM/MAS/v2/Users/a%2F7")
            #expect(answering.requests[0].headers.first("Accept") == "application/scim+json")
        }
        let empty = Answering((200, #"{"totalResults":0,"Resources":[]}"#))
        let error = await failure(as: DirectoryError.self) { try await directory(empty).find(.user, .id("7")) }
        #expect(error == .userUnknown(name: "7"))
    }

    @Test(
        "a directory's answers that are not what the protocol says are refused",
        arguments: [
            "", "[]", "{}", #"{"totalResults":1}x"#, #"{"totalResults":-1}"#,
            #"{"totalResults":0,"Resources":[{"id":"1"}]}"#,
            #"{"totalResults":1,"Resources":[{"userName":"al"}]}"#, #"{"totalResults":1,"Resources":["al"]}"#,
        ])
    func badLists(body: String) async {
        let error = await failure(as: DirectoryError.self) { try await directory(Answering((200, body))).list(.user) }
        #expect(error?.code == "services.answer-invalid")
    }

    @Test("several directory users of one name, and a schema that was not asked for, are refused")
    func ambiguous() async {
        let two = Answering((200, #"{"totalResults":2,"Resources":[{"id":"1"},{"id":"2"}]}"#))
        #expect(
            await failure(as: DirectoryError.self) { try await directory(two).find(.user, .name("al")) }?.code
                == "services.answer-invalid")
        let schema = Answering((200, #"{"id":"urn:other","attributes":[]}"#))
        #expect(
            await failure(as: DirectoryError.self) { try await directory(schema).schema(of: .user) }?.code
                == "services.answer-invalid")
        #expect(schema.requests[0].headers.isEmpty, "schemas are asked for without SCIM's media type")
    }

    @Test("a directory group is written back whole, with what this program does not know of it")
    func wholeGroup() async throws {
        let group = #"{"id":"g","displayName":"G","owner":{"value":"al"},"x":1,"members":[{"value":"1"}]}"#
        let answering = Answering(
            HTTPResponse(status: 200, body: Array(#"{"id":"2","userName":"bo"}"#.utf8)),
            HTTPResponse(status: 200, body: Array(group.utf8)), HTTPResponse(status: 204))
        let changed = try await directory(answering).add(.id("2"), toGroup: .id("g"))
        #expect(changed["x"] == 1 && changed["members"]?.array?.count == 2)
        let put = answering.requests[2]
        #expect(put.method == "PUT" && put.path == "/SCIM/MAS/v2/Groups/g")
        let body = try JSON(parsing: put.body ?? [])
        #expect(body["owner"] == ["value": "al"])
        #expect(body["members"]?[1] == ["value": "2", "display": "bo", "type": "User"])
    }

    @Test("a directory's server words its refusals, but what it does not have is unknown")
    func refusals() async {
        let refused = await failure(as: Answering.Refused.self) {
            try await directory(Answering((403, ""))).find(.user, .id("7"))
        }
        #expect(refused?.status == 403)
        for (kind, error) in [
            (Directory.Kind.user, DirectoryError.userUnknown(name: "7")), (.group, .groupUnknown(name: "7")),
        ] {
            #expect(
                await failure(as: DirectoryError.self) {
                    try await directory(Answering((404, ""))).find(kind, .id("7"))
                } == error)
        }
        let gone = await failure(as: DirectoryError.self) {
            try await directory(Answering((404, ""))).deleteGroup(.id("7"))
        }
        #expect(gone == .groupUnknown(name: "7"))
        let list = await failure(as: Answering.Refused.self) { try await directory(Answering((404, ""))).list(.user) }
        #expect(list?.status == 404, "a directory that is not there is no empty one")
    }

    @Test(
        "a directory user's picture is bytes or an address",
        arguments: [
            ("data:image/png;base64,AQI=", Photo.bytes([1, 2], mediaType: "image/png")),
            ("image/jpeg;base64,AQI=", .bytes([1, 2], mediaType: "image/jpeg")),
            ("base64,AQI=", .bytes([1, 2], mediaType: "application/octet-stream")),
            ("data:image/<x>;base64,AQI=", .bytes([1, 2], mediaType: "application/octet-stream")),
            ("https://a.example/p", .address("https://a.example/p")), ("data:image/png;base64,!", nil),
            ("http://a.example/p", nil), ("", nil),
        ] as [(String, Photo?)])
    func photo(value: String, photo: Photo?) {
        #expect(Photo(value) == photo)
    }
}
