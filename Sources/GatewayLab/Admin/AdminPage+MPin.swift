/// The page's part about M-Pin.
extension AdminPage {
    static let mpinSection = #"""
        <section aria-labelledby="mpin-title">
          <h2 id="mpin-title">M-Pin users <span id="mpin-count" class="count"></span></h2>
          <p>Back end <code id="mpin-url"></code>. Mails are not sent: their codes are here.</p>
          \#(table("mpin", ["User", "State", "Failed", "Code", "Act"]))
          <h3 id="mpin-browsers-title">Browsers that wait for a phone</h3>
          \#(table("mpin-browsers", ["Number or code", "State", "User", "Ends"]))
          <div class="row"><button id="mpin-number">New access number</button><button id="mpin-qr">New QR code</button></div>
          <ul id="mpin-violations" class="plain" aria-label="What clients did against the protocol"></ul>
        </section>
        """#

    static var lies: String {
        MPinLie.allCases.map { #"<option value="\#($0.rawValue)">\#($0.summary)</option>"# }.joined()
    }
}
