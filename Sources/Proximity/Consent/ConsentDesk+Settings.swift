extension ConsentDesk {
    public enum Policy: String, Sendable {
        /// A person or program has to answer.
        case ask
        case grantAll = "grant-all"
        /// Refuses every request because no one is there to answer.
        case refuseAll = "refuse-all"
    }

    public struct Settings: Sendable {
        public var policy = Policy.ask
        /// How long a question can be answered.
        public var patience = Duration.seconds(30)
        /// The maximum number of waiting questions, including the current one.
        public var waitingLimit = 4
        /// The limit for one requester.
        public var requestsPerMinute = 6
        public var button = ButtonGestures.Timing()
        /// How long a question must be the only one before the button can grant it, if there was another one shortly
        /// before.
        public var solitude = Duration.seconds(5)
        /// How long an answered session is remembered; longer than the lifetime of any authorization session.
        public var memory = Duration.seconds(900)

        public init() {}
    }
}
