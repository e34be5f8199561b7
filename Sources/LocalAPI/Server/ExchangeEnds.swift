/// The two ends of an exchange, the handler and the connection, and what it holds until both are done.
struct ExchangeEnds {
    private(set) var task: Task<Void, Never>?
    /// Notices that the program hangs up.
    var watch: HangUpWatch?
    /// The place in the user's quota of requests, while the handler runs or the answer is being written.
    var place: UserShares.Place?
    private(set) var handlerIsDone = false
    private(set) var connectionIsDone = false
    private(set) var isStopping = false

    /// Whether work is still done for a program that is still there.
    var areOpen: Bool { !handlerIsDone && !connectionIsDone }

    /// Called before the connection can complete: on libmicrohttpd's thread, in a callback.
    ///
    /// - Returns: whether the server stops, so that the task is to be canceled.
    mutating func keep(_ task: Task<Void, Never>) -> Bool {
        self.task = task
        return isStopping
    }

    /// The handler has answered with a stream, which another task produces.
    mutating func handlerGoesOn(watchedBy watch: HangUpWatch?) {
        // A slow handler may already have one.
        self.watch?.stop()
        self.watch = watch
        handlerIsDone = false
    }

    mutating func handlerIsOver() {
        handlerIsDone = true
        settle()
    }

    /// - Returns: the handler's task.
    mutating func connectionIsOver() -> Task<Void, Never>? {
        connectionIsDone = true
        // Without a task there is no handler to wait for.
        if task == nil { handlerIsDone = true }
        settle()
        watch?.stop()
        watch = nil
        return task
    }

    /// - Returns: the handler's task.
    mutating func stop() -> Task<Void, Never>? {
        isStopping = true
        return task
    }

    private mutating func settle() { if handlerIsDone && connectionIsDone { place = nil } }
}
