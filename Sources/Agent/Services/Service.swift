/// Something that the agent does for as long as it runs.
protocol Service: Sendable {
    /// Ends when its task is cancelled.
    func run() async
}

/// The agent's services, side by side.
///
/// Not a `ServiceGroup` of swift-service-lifecycle: that brings swift-async-algorithms and two kinds of collections, 1.5 MB of
/// the program, for the few lines that are needed here.
enum Services {
    /// Runs them until `ending` returns, then ends them all; none takes another with it.
    static func run(_ services: [any Service], until ending: @Sendable () async -> Void) async {
        await withDiscardingTaskGroup { group in
            for service in services { group.addTask { await service.run() } }
            await ending()
            group.cancelAll()
        }
    }
}
