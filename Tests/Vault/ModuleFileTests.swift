import Foundation
import Groundwork
import Testing

@testable import Vault

@Suite("File of a PKCS#11 module")
struct ModuleFileTests {
    private let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    private let file = ModuleFile(trustsThisUser: true)
    private var path: String { desk.directory + "/module.so" }

    private func put(_ mode: mode_t = 0o644) throws {
        try desk.write(Data([1]), to: path, mode: Int(mode))
        #expect(chmod(desk.directory, 0o755) == 0)
    }

    private func reason(_ path: String) -> String? {
        guard
            case .token(.moduleUnsafe(_, let reason)) = #expect(
                throws: VaultError.self,
                performing: {
                    try file.checked(path)
                })
        else { return nil }
        return reason
    }

    @Test("a module's file that belongs to the right user is taken, also by a link, which is followed to the file")
    func taken() throws {
        try put()
        #expect(try file.checked(path) == path)
        let link = desk.directory + "/link.so"
        #expect(symlink(path, link) == 0)
        #expect(try file.checked(link) == path)
    }

    @Test(
        "a module's file that others may write, or whose folder they may, is refused",
        arguments: [0o664, 0o646, 0o666] as [mode_t])
    func writable(mode: mode_t) throws {
        try put(mode)
        #expect(reason(path) == "users other than its owner may write it (mode \(String(mode, radix: 8)))")
        try put()
        let folder = mode | 0o111
        #expect(chmod(desk.directory, folder) == 0)
        #expect(reason(path) == "users other than its owner may write it (mode \(String(folder, radix: 8)))")
        // As for /tmp: nobody else can replace the file in it.
        #expect(chmod(desk.directory, 0o1777) == 0)
        #expect(try file.checked(path) == path)
    }

    @Test(
        "a module's file that belongs to another user, or whose folder does, is refused",
        .enabled(if: geteuid() == 0, "only root gives files away"))
    func ofOther() throws {
        try put()
        #expect(chown(path, 65534, 65534) == 0)
        #expect(reason(path) == "it belongs to user 65534")
        #expect(chown(path, 0, 0) == 0 && chown(desk.directory, 65534, 65534) == 0)
        #expect(reason(path) == "it belongs to user 65534")
    }

    @Test(
        "a module's file that is a folder or a pipe, or has no absolute path, is refused; one that is missing is named")
    func kinds() throws {
        #expect(reason(desk.directory) == "it is not a regular file")
        #expect(mkfifo(path, 0o600) == 0)
        #expect(reason(path) == "it is not a regular file")
        #expect(reason("module.so") == "it is not an absolute path")
        let missing = desk.directory + "/none.so"
        #expect(throws: VaultError.token(.moduleMissing(path: missing))) { try file.checked(missing) }
    }

    @Test("a module's file that is no library is refused as one, and nothing is loaded before it is needed")
    func noLibrary() throws {
        try put()
        let module = TokenModule(path: path, trustsThisUser: true)
        let error = #expect(throws: VaultError.self) { try module.inTurn { _ in } }
        #expect(error?.explanation.code == "vault.token-module-invalid")
        let other = TokenModule(path: desk.directory + "/none.so", trustsThisUser: true)
        other.finalize()
        #expect(throws: VaultError.token(.moduleEnded(path: other.path))) { try other.inTurn { _ in } }
    }
}
