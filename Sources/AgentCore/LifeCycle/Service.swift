/// Work that goes on for as long as the agent runs.
package protocol Service: Sendable {
    /// Ends when its task is canceled.
    func run() async
}

/// The agent's services, side by side.
///
/// Not a `ServiceGroup` of swift-service-lifecycle: that brings swift-async-algorithms and two kinds of collections,
/// 1.5 MB of the program, for the few lines that are needed here.
package enum Services {
    /// Runs the services until `ending` returns, then ends them all; one that ends does not end the others.
    package static func run(_ services: [any Service], until ending: @Sendable () async -> Void) async {
        await withDiscardingTaskGroup { group in
            for service in services { group.addTask { await service.run() } }
            await ending()
            group.cancelAll()
        }
    }
}
