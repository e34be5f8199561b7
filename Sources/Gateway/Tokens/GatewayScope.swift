import OAuth

/// Which scopes to request (MAG 5.1, 7.1), and when a granted scope suffices (MAG 5.2). Pure.
enum GatewayScope {
    /// Words that are about the session, not about APIs; a token is sufficient without them.
    static let sessionWords: Set = ["openid", "msso", "msso_register", "msso_client_register"]

    /// The scope that a grant by credentials or id_token requests.
    ///
    /// `msso_register` is left out because it must not be requested once the device is registered; `msso` is added to
    /// grants by credentials while single sign-on is on and the scope does not contain it, and left out while it is
    /// off.
    static func requested(
        configured: String?, additional: String?, standard: String, singleSignOn: Bool, addsSession: Bool
    ) -> String {
        var words = Scope.list(configured ?? standard)
        words += Scope.list(additional).filter { !words.contains($0) }
        let namesSession = words.contains { $0.contains("msso") }
        words.removeAll { $0 == "msso_register" || ($0 == "msso" && !singleSignOn) }
        if singleSignOn, addsSession, !namesSession { words.append("msso") }
        return words.joined(separator: " ")
    }

    /// The scope that an authorization session requests (MAG 7.1). A code with `msso_register` registers a device and
    /// does nothing else, so it is requested only for a registration (MAG checklist 34).
    static func authorization(configured: String?, singleSignOn: Bool, registers: Bool) -> String {
        var words = Scope.list(configured ?? "openid")
        words.removeAll { $0 == "msso_register" || ($0 == "msso" && !singleSignOn) }
        if singleSignOn, !words.contains("openid") { words.append("openid") }
        // Whether single sign-on is on or not, as the client for Android does.
        if registers { words.append("msso_register") }
        return words.joined(separator: " ")
    }

    static func suffices(_ granted: String, for requested: String?) -> Bool {
        Scope.suffices(granted, for: requested, without: sessionWords)
    }
}
