/// What connections that ended one after the other have in common. Pure.
///
/// A broker of MQTT 3.1.1 gives no reason when it ends a connection. But what it does again and again tells: a
/// connection that ends within seconds, with nothing under way, was most likely ended for another one with the same
/// client identifier (MQTT 3.1.1 section 3.1.4); one that ends before the broker has answered anything was refused for
/// something in its first messages.
struct EndingStreak: Equatable {
    enum Suspicion: Equatable {
        /// Another client uses the same client identifier.
        case rival
        /// The broker does not take the first messages: the last will, or the presence message.
        case refusedGreeting
    }

    /// How many endings in a row make a suspicion.
    static let limit = 5
    /// How long a connection may have lived to be the first of rivals.
    static let brief = Duration.seconds(10)
    /// How long a connection may have lived to go on with a suspicion: both rivals pause for longer and longer.
    static let memory = Duration.seconds(180)

    private var rivals = 0
    private var refusals = 0

    /// How many connections in a row led to the ``suspicion``.
    var count: Int { max(rivals, refusals) }

    var suspicion: Suspicion? {
        rivals >= Self.limit ? .rival : refusals >= Self.limit ? .refusedGreeting : nil
    }

    /// - Parameters:
    ///   - life: since the broker accepted it; `nil` if it did not.
    ///   - loss: `nil` if the broker had not accepted it, or it was ended from this side.
    ///   - isHangUp: whether the broker closed it before it answered; for one that it did not accept.
    mutating func connectionEnded(after life: Duration?, with loss: ConnectionLoss?, isHangUp: Bool) {
        guard let life else {
            (rivals, refusals) = (0, isHangUp ? refusals + 1 : 0)
            return
        }
        guard let loss, loss.cause == .hangUp else {
            (rivals, refusals) = (0, 0)
            return
        }
        guard loss.isProven else {
            (rivals, refusals) = (0, refusals + 1)
            return
        }
        refusals = 0
        guard life < (suspicion == .rival ? Self.memory : Self.brief) else {
            rivals = 0
            return
        }
        // With messages under way it may have been one of them that the broker does not take.
        if loss.underWay.isEmpty { rivals += 1 }
    }
}
