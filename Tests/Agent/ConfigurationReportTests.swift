import Foundation
import Glibc
import Groundwork
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentSettingsFiles

@Suite("A check of a file of settings")
struct ConfigurationReportTests {
    @Test("a check of settings names the faults, and knows a gateway's document by its ending")
    func report() {
        #expect(
            ConfigurationReport(of: Array("[telemetry]\nqos = 9\n".utf8), path: "a.toml", of: Features.all).faults.map(
                \.path) == [
                    "telemetry.qos"
                ])
        #expect(ConfigurationReport(of: [], path: "a.toml", of: Features.all).faults.isEmpty)
        #expect(!ConfigurationReport(of: Array("{}".utf8), path: "msso_config.json", of: Features.all).faults.isEmpty)
        #expect(
            ConfigurationReport(of: Array("not JSON".utf8), path: "msso_config.json", of: Features.all).faults.count
                == 1)
    }

    @Test("a check of settings includes the drop-ins beside them, and names the file of each fault")
    func dropIns() throws {
        try withFolder { folder in
            #expect(mkdir("\(folder)/a.d", 0o755) == 0)
            try Data("[telemetry]\nqos = 9\n".utf8).write(to: URL(filePath: "\(folder)/a.d/1.toml"))
            let report = ConfigurationReport(of: [], path: "\(folder)/a.toml", of: Features.all)
            let fault = try #require(report.faults.first)
            #expect(report.faults.count == 1 && fault.path == "telemetry.qos" && fault.file == "\(folder)/a.d/1.toml")
            #expect(fault.description.hasPrefix("\(folder)/a.d/1.toml: telemetry.qos: is 9"))
            #expect(fault.json["file"]?.string == fault.file)
        }
    }
}
