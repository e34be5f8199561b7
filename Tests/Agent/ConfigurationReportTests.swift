import Groundwork
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
}
