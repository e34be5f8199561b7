import Foundation
import Testing

@testable import Agent

@Suite("The state directory")
struct StateDirectoryTests {
    @Test("is made for its owner alone")
    func made() throws {
        try withFolder { folder in
            let directory = try StateDirectory(folder + "/state")
            let mode = try FileManager.default.attributesOfItem(atPath: directory.path)[.posixPermissions] as? Int
            #expect(mode == 0o700)
        }
    }

    @Test("is refused when others may look into it", arguments: [0o755, 0o750, 0o701])
    func open(mode: Int) throws {
        try withFolder { folder in
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder)
            #expect(throws: AgentError.stateDirectory(path: folder, reason: "others may look into it (its mode is not 0700)")) {
                try StateDirectory(folder)
            }
        }
    }

    @Test("has one owner at a time, and another after that")
    func owner() throws {
        try withFolder { folder in
            do {
                let first = try StateDirectory(folder)
                for _ in 0..<3 {
                    #expect(throws: AgentError.stateDirectoryInUse(path: folder)) { try StateDirectory(folder) }
                }
                withExtendedLifetime(first) {}
            }
            _ = try StateDirectory(folder)
        }
    }

    @Test("says why it cannot be used")
    func unusable() throws {
        try withFolder { folder in
            #expect(throws: AgentError.stateDirectory(path: folder + "/a/b", reason: "No such file or directory")) {
                try StateDirectory(folder + "/a/b")
            }
            try Data().write(to: URL(filePath: folder + "/file"))
            #expect(throws: AgentError.stateDirectory(path: folder + "/file", reason: "it is no directory")) {
                try StateDirectory(folder + "/file")
            }
        }
    }
}
