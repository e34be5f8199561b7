import Foundation
import Glibc
import Groundwork
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentMessages

@Suite("The directory of drop-ins beside the settings file")
struct SettingsDropInTests {
    @Test("drop-ins are read from the directory beside the settings file: regular .toml files that are not hidden")
    func dropIns() throws {
        try withFolder { folder in
            let (main, directory) = ("\(folder)/latchkey.toml", "\(folder)/latchkey.d")
            func write(_ text: String, to name: String) throws {
                try Data(text.utf8).write(to: URL(filePath: "\(directory)/\(name)"))
            }
            try Data("[broker]\nport = 1\n".utf8).write(to: URL(filePath: main))
            #expect(try AgentConfiguration.load(path: main).broker.port == 1)
            #expect(mkdir(directory, 0o755) == 0 && mkdir("\(directory)/90.toml", 0o755) == 0)
            #expect(symlink("/dev/null", "\(directory)/91.toml") == 0)
            for name in [
                ".hidden.toml", "99.toml~", "#99.toml#", ".#99.toml", "99.toml.new", "99.conf", "99.toml.dpkg-new",
            ] {
                try write("not TOML", to: name)
            }
            try write("[broker]\nport = 2\n", to: "10-image.toml")
            #expect(try AgentConfiguration.load(path: main).broker.port == 2)
            try write("[broker]\nport = 3\nwindow = 7\n", to: "20-fleet.toml")
            let loaded = try AgentConfiguration.load(path: main)
            #expect(loaded.broker.port == 3 && loaded.broker.window == 7)

            // Each fault has its file, and one of TOML its line.
            try write("[broker]\nprot = 1\n", to: "20-fleet.toml")
            let unknown = #expect(throws: ConfigurationError.self) { try AgentConfiguration.load(path: main) }
            #expect(unknown?.message.hasPrefix("\(directory)/20-fleet.toml: broker.prot: unknown key") == true)
            try Data("[brokr]\n".utf8).write(to: URL(filePath: main))
            let both = #expect(throws: ConfigurationError.self) { try AgentConfiguration.load(path: main) }
            #expect(both?.message.contains("\(main): brokr: unknown key") == true, "\(both?.message ?? "")")
            #expect(both?.message.contains("\(directory)/20-fleet.toml: broker.prot") == true)
            try write("[broker]\n\nport = \n", to: "10-image.toml")
            let broken = #expect(throws: ConfigurationError.self) { try AgentConfiguration.load(path: main) }
            #expect(broken?.message.contains("\(directory)/10-image.toml: line 3") == true, "\(broken?.message ?? "")")

            for number in 0...64 { try write("", to: "\(number).toml") }
            #expect(
                throws: ConfigurationError.unreadable(path: directory, reason: "it has more than 64 files")
            ) { try AgentConfiguration.load(path: main) }
        }
    }
}
