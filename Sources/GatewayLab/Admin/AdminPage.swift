/// The page of the admin port. It loads nothing from elsewhere and runs no inline script; its parts are ``css`` and
/// ``script``.
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
        <main>
          <div class="column side">
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
                  </select>
                </label>
                <label>Where <select name="endpoint"><option value="">every endpoint</option></select></label>
                <label data-for="status error">Status <input name="status" type="number" min="400" max="599" value="503"></label>
                <label data-for="error">Code <input name="code" type="number" min="1" max="9999999" value="3003206"></label>
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
              <fieldset><legend>Gateway</legend>
                <button data-part="gateway/stop">Stop</button><button data-part="gateway/start">Start</button>
              </fieldset>
              <fieldset><legend>Broker</legend>
                <button data-part="broker/stop">Stop</button><button data-part="broker/start">Start</button>
                <button data-part="broker/suspend">Hang</button><button data-part="broker/resume">Go on</button>
                <button data-part="broker/kill" class="danger">Kill</button>
              </fieldset>
            </section>
          </div>
          <div class="column">
            <section aria-labelledby="devices-title">
              <h2 id="devices-title">Devices <span id="device-count" class="count"></span></h2>
              <ul id="devices" class="plain cards"></ul>
            </section>
            <section aria-labelledby="logins-title">
              <h2 id="logins-title">Log-ins <span id="login-count" class="count"></span></h2>
              <div class="scroll" tabindex="0" aria-labelledby="logins-title"><table>
                <thead><tr><th>Ends</th><th>Device</th><th>Status</th><th>User</th><th>Scopes</th><th>Decide</th></tr></thead>
                <tbody id="logins"></tbody>
              </table></div>
            </section>
            <section aria-labelledby="messages-title">
              <h2 id="messages-title">Messages <span id="message-count" class="count"></span></h2>
              <div class="scroll" tabindex="0" aria-labelledby="messages-title"><table>
                <thead><tr><th>Time</th><th>From</th><th>Topic</th><th>Payload</th></tr></thead>
                <tbody id="messages"></tbody>
              </table></div>
            </section>
            <section aria-labelledby="events-title">
              <h2 id="events-title">Events</h2>
              <div class="scroll" tabindex="0" aria-labelledby="events-title"><table>
                <thead><tr><th>Time</th><th>Kind</th><th>What</th><th>Device</th></tr></thead>
                <tbody id="events"></tbody>
              </table></div>
            </section>
            <section aria-labelledby="tokens-title">
              <h2 id="tokens-title">Access tokens <span id="token-count" class="count"></span></h2>
              <div class="scroll" tabindex="0" aria-labelledby="tokens-title"><table>
                <thead><tr><th>Token</th><th>Device</th><th>User</th><th>Ends</th><th>Scopes</th></tr></thead>
                <tbody id="tokens"></tbody>
              </table></div>
            </section>
          </div>
        </main>
        <div id="notice" role="alert" hidden></div>
        </body>
        </html>
        """#
}
