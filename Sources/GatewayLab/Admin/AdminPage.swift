import Foundation

/// The page of the admin port. It loads nothing from elsewhere and runs no inline script; its parts are ``css`` and
/// ``script``. It contains no secret: its data comes from the admin API, requested with the token from the page's link.
///
/// On a wide screen, enrollment and faults are placed beside the rest; on a phone, the sections follow each other in
/// source order.
enum AdminPage {
    static let html = #"""
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Latchkey lab</title>
        <link rel="icon" href="data:,">
        <link rel="stylesheet" href="page.css">
        <script src="page.js" defer></script>
        </head>
        <body>
        <header>
          <h1>Latchkey lab</h1>
          <dl id="facts">
            <div><dt>Gateway</dt><dd id="gateway">…</dd></div>
            <div><dt>Broker</dt><dd id="broker">…</dd></div>
            <div><dt>Lab time</dt><dd id="now">…</dd></div>
          </dl>
          <p id="live" role="status">connecting</p>
        </header>
        <section id="locked" role="alert" hidden>
          <h2>This page needs its link</h2>
          <p>Open the link that <code>latchkey-lab run</code> printed; <code>latchkey-lab page</code> prints it again.
          Each start of the lab has a new one.</p>
        </section>
        <main id="content">
          <div class="column" id="enrolling">
            <section aria-labelledby="enroll-title">
              <h2 id="enroll-title">Enroll a board</h2>
              <p>Creates a one-time enrollment link.</p>
              <label id="client-choice" hidden>Client <select id="client"></select></label>
              <button id="mint" class="primary">Mint enrollment URL</button>
              <div id="ticket" hidden>
                <img id="qr" alt="QR code of the enrollment URL" width="264" height="264">
                <p id="ticket-life"></p>
                <label for="ticket-url">Enrollment URL</label>
                <textarea id="ticket-url" readonly rows="4" spellcheck="false"></textarea>
                <button id="copy">Copy command</button>
              </div>
            </section>
          </div>
          <div class="column" id="lists">
            <section aria-labelledby="devices-title">
              <h2 id="devices-title">Devices <span id="device-count" class="count"></span></h2>
              <ul id="devices" class="plain cards"></ul>
            </section>
            <section aria-labelledby="logins-title">
              <h2 id="logins-title">Logins <span id="login-count" class="count"></span></h2>
              \#(table("logins", ["Ends", "Device", "Status", "User", "Scopes", "Decide"]))
            </section>
            <section aria-labelledby="messages-title">
              <div class="bar">
                <h2 id="messages-title">Messages <span id="message-count" class="count"></span></h2>
                <label class="check"><input type="checkbox" id="hide-telemetry"> Hide telemetry</label>
                <input type="search" id="match" placeholder="Filter" aria-label="Show messages with this text" spellcheck="false">
                <button id="pause" aria-pressed="false" aria-label="Pause messages and events">Pause</button>
              </div>
              \#(table("messages", ["Time", "From", "Topic", "Payload"]))
            </section>
            <section aria-labelledby="events-title">
              <h2 id="events-title">Events</h2>
              \#(table("events", ["Time", "Kind", "What", "Device"]))
            </section>
            <section aria-labelledby="tokens-title">
              <h2 id="tokens-title">Access tokens <span id="token-count" class="count"></span></h2>
              \#(table("tokens", ["Token", "Device", "User", "Ends", "Scopes"]))
            </section>
            \#(mpinSection)
          </div>
          <div class="column" id="breaking">
            <section aria-labelledby="faults-title">
              <h2 id="faults-title">Faults</h2>
              <ul id="faults" class="plain"></ul>
              <form id="fault">
                <label>What
                  <select name="kind">
                    <option value="status">HTTP status</option>
                    <option value="error">x-ca-err</option>
                    <option value="delay">Delay</option>
                    <option value="drop">Drop the connection</option>
                    <option value="drop-answer">Drop the answer</option>
                    <option value="captive-portal">Captive portal</option>
                    <option value="lie">M-Pin lie</option>
                  </select>
                </label>
                <label>Where <select name="endpoint"><option value="">every endpoint</option>\#(endpoints)</select></label>
                <label data-for="status error">Status <input name="status" type="number" min="201" max="599" value="503"></label>
                <label data-for="error">Code <input name="code" type="number" min="1" max="9999999" value="3003206"></label>
                <label data-for="lie">Lie <select name="lie">\#(lies)</select></label>
                <label data-for="delay">Milliseconds <input name="milliseconds" type="number" min="1" max="600000" value="2000"></label>
                <label>Times <input name="times" type="number" min="1" placeholder="until cleared"></label>
                <div class="row"><button>Set fault</button><button type="button" id="clear-faults">Clear all</button></div>
              </form>
              <label>Certificate shown
                <select id="face">
                  <option value="genuine">genuine</option>
                  <option value="other-key">another key</option>
                  <option value="expired">expired</option>
                  <option value="other-host">another host</option>
                  <option value="other-authority">unknown authority</option>
                </select>
              </label>
              <fieldset><legend>Gateway</legend>\#(buttons("gateway", ["stop", "start"]))</fieldset>
              <fieldset><legend>Broker</legend>\#(buttons("broker", ["stop", "start", "suspend", "resume", "kill"]))</fieldset>
            </section>
          </div>
        </main>
        <dialog id="question" aria-labelledby="question-text">
          <p id="question-text"></p>
          <div class="row"><button id="question-yes" class="danger"></button><button id="question-no" autofocus>Cancel</button></div>
        </dialog>
        <div id="notice" role="alert" hidden></div>
        </body>
        </html>
        """#

    /// A list in columns. On a phone its rows are cards; the roles keep the table accessible, because that style
    /// removes table semantics from the elements.
    static func table(_ name: String, _ columns: [String]) -> String {
        let heads = columns.map { #"<th role="columnheader">\#($0)</th>"# }.joined()
        return #"""
            <div class="scroll" tabindex="0" role="region" aria-labelledby="\#(name)-title"><table role="table">\#
            <thead role="rowgroup"><tr role="row">\#(heads)</tr></thead><tbody role="rowgroup" id="\#(name)"></tbody></table></div>
            """#
    }

    /// The actions for a part of the lab, named as in `latchkey-lab fault part`.
    private static func buttons(_ part: String, _ actions: [String]) -> String {
        actions.map { action in
            let danger = action == "kill" ? #" class="danger""# : ""
            let text = action.capitalized
            return #"""
                <button data-part="\#(part)/\#(action)" aria-label="\#(text) the \#(part)"\#(danger)>\#(text)</button>
                """#
        }.joined()
    }

    private static var endpoints: String {
        Endpoint.allCases.map { endpoint in
            #"<option value="\#(endpoint.rawValue)">\#(endpoint.rawValue) \#(endpoint.summary)</option>"#
        }.joined()
    }

    static var css: String { text(PackageResources.page_css) }

    static var script: String {
        [
            PackageResources.calls_js, PackageResources.views_js, PackageResources.mpin_js,
            PackageResources.controls_js,
        ].map(text).joined()
    }

    private static func text(_ file: [UInt8]) -> String { String(decoding: file, as: UTF8.self) }
}
