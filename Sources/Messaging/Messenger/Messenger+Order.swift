import Groundwork

/// What the next connection needs.
extension Messenger {
    /// - Throws: ``MessagingError/credentialsUnavailable(_:)``, or why there is no way to the broker.
    func order() async throws(MessagingError) -> ConnectionOrder {
        let credentials: BrokerCredentials
        do {
            credentials = try await self.credentials(broker)
        } catch {
            throw .credentialsUnavailable(Explanation(of: error))
        }
        proxy = try proxyForNext()
        return ConnectionOrder(
            address: broker, credentials: credentials, keepAlive: settings.keepAlive,
            timeout: settings.connectTimeout, proxy: proxy, cleanSession: settings.cleanSession,
            presenceTopic: settings.presenceTopic, retainsPresence: settings.retainsPresence, will: settings.will,
            window: pace.limit)
    }

    private func proxyForNext() throws(MessagingError) -> BrokerProxy? {
        do {
            return try settings.proxy(broker)
        } catch let error as MessagingError {
            throw error
        } catch {
            throw .proxyUnusable(reason: Explanation(of: error).message)
        }
    }
}
