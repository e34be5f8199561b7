import Groundwork

/// Several brokers: the next one when one fails, and back to the first.
extension Messenger {
    /// The one that is used or tried.
    public var broker: BrokerAddress { addresses[choice.index] }

    /// Takes what is known of the subscriptions at the broker that is tried next: each broker keeps a session of its
    /// own.
    func enterSession() {
        guard choice.index != sessionIndex else { return }
        sessions[sessionIndex] = (established, ending)
        let formers = inbox.standing?.formerFilters ?? []
        (established, ending) = sessions[choice.index] ?? (formers, formers)
        sessionIndex = choice.index
    }

    /// - Returns: whether another broker is tried at once.
    func failsOver(after error: MessagingError) -> Bool {
        guard error.concernsBroker else { return false }
        if choice.isPreferred { preferredError = error }
        return choice.attemptFailed()
    }

    /// Looks from time to time whether the first broker can be reached again, and then moves the session there: nothing
    /// is lost by that, because what the outbox sent without an acknowledgement is sent again.
    func returnOnceFirstAnswers() async {
        while (try? await Task.sleep(for: settings.returnCheck)) != nil {
            guard isOpen, await answers(addresses[0]), !Task.isCancelled else { continue }
            choice.prefer()
            // Presence and will of this connection are those of a broker that is left.
            reconnect(announcing: true)
            return
        }
    }

    /// Whether a TCP connection to a broker can be made, through its proxy if it has one.
    private func answers(_ address: BrokerAddress) async -> Bool {
        let proxy: BrokerProxy?
        do { proxy = try settings.proxy(address) } catch { return false }
        let order = ConnectionOrder(
            address: address, credentials: BrokerCredentials(clientID: "", userName: nil, password: nil, tls: nil),
            keepAlive: settings.keepAlive, timeout: settings.connectTimeout, proxy: proxy, isProbe: true,
            cleanSession: true)
        let probe = BrokerConnection(order, inbox: inbox)
        return await withTaskCancellationHandler {
            await probe.lastNews().ending == .closed
        } onCancel: {
            probe.send(.close(announcing: false))
        }
    }
}

extension MessagingError {
    /// Whether an attempt failed at a broker or on the way to it, so that another one may be better.
    fileprivate var concernsBroker: Bool {
        switch self {
        case .cannotConnect, .tlsRefused, .tlsFailed, .connectTimeout, .proxyUnusable, .proxyFailed, .proxyRefused,
            .webSocketRefused, .webSocketFailed, .refused, .connectionLost, .greetingRefused:
            true
        default: false
        }
    }
}
