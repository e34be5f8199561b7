import AgentCore
import Groundwork

extension Version {
    /// The system libraries that the program uses, with their versions.
    package static var libraries: [(name: String, version: String)] { Features.all.flatMap { $0.libraries } }

    /// This version and those of the libraries, for programs.
    package static var report: JSON { report(of: Features.all) }
}
