import AgentCore

extension ConsolePage {
    static let head = #"""
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <link rel="icon" href="data:,">
        <link rel="stylesheet" href="/page.css">
        <link rel="stylesheet" href="/own.css">
        <script src="/page.js" defer></script>

        """#

    static let header = #"""
        <a class="skip" href="#main">Skip to the content</a>
        <header>
        """#

    /// In the order in which a person needs it; wide screens show it in columns.
    static let body = #"""
          <p id="board"></p>
          <p id="live" role="status">connecting</p>
          <button id="end" type="button" hidden>End session</button>
        </header>
        <p id="announcer" class="unseen" role="status" aria-live="polite"></p>
        <main id="main" tabindex="-1">
          <p id="stale" role="alert" hidden></p>
          <section id="landing" aria-labelledby="landing-title" hidden>
            <h2 id="landing-title">Login on the board</h2>
            <p id="landing-text" role="status">This is being passed on to the board's page.</p>
          </section>
          <section id="locked" aria-labelledby="locked-title" hidden>
            <h2 id="locked-title">This page needs its address</h2>
            <p>Run <code>latchkey console</code> on the board, and open the address that it prints. It works once; a session
            ends after a while without use.</p>
            <p id="locked-reason"></p>
          </section>
          <div id="content" hidden>
            <div class="column">
              <section aria-labelledby="prompts-title">
                <h2 id="prompts-title">Waiting for you <span id="prompt-count" class="count"></span></h2>
                <ul id="prompts" class="plain"></ul>
                <p id="no-prompts" class="quiet">Nothing is being asked.</p>
              </section>
              <section aria-labelledby="state-title">
                <h2 id="state-title">State</h2>
                <ul id="troubles" class="plain"></ul>
                <dl id="state" class="facts"></dl>
              </section>
            </div>
            <div class="column">
              <section aria-labelledby="sensors-title">
                <h2 id="sensors-title">Sensors <span id="sensor-count" class="count"></span></h2>
                <ul id="sensors" class="plain"></ul>
                <p id="no-sensors" class="quiet">No readings yet.</p>
              </section>
              <section aria-labelledby="sessions-title">
                <h2 id="sessions-title">Log-in</h2>
                <ul id="sessions" class="plain"></ul>
                <div id="people">
                  <label id="account-choice" hidden>Account <select id="account"></select></label>
                  <form id="login" aria-label="Log in by user name">
                    <label>User name
                      <input name="user" autocomplete="username" maxlength="256" required spellcheck="false"></label>
                    <label id="login-password">Password
                      <input name="password" type="password" autocomplete="current-password" maxlength="1024"></label>
                    <div class="row"><button class="primary">Log in</button></div>
                  </form>
                  <div class="row" role="group" aria-label="Other ways to log in" id="ways">
                    <button type="button" id="by-qr">Log in by QR code</button>
                    <button type="button" id="by-provider">Log in by a provider</button>
                    <button type="button" id="by-page">Log in at the gateway’s page</button>
                    <button type="button" id="by-browser" hidden>Log in with a browser</button>
                    <button type="button" id="by-code" hidden>Log in by a code</button>
                  </div>
                  <p id="no-way" class="quiet" hidden></p>
                  <div id="login-step" role="group" aria-label="Login in progress" hidden>
                    <form id="providers" aria-label="Choose a provider" hidden>
                      <fieldset id="provider-choices"></fieldset>
                      <div class="row"><button class="primary">Continue</button></div>
                    </form>
                    <a id="login-link" target="_blank" rel="noopener noreferrer" hidden></a>
                    <img id="qr" alt="" width="264" height="264" hidden>
                    <p id="login-text" role="status"></p>
                    <form id="login-answer" aria-label="Enter the browser's final address" hidden>
                      <label>The browser's final address
                        <input name="answer" required maxlength="4096" spellcheck="false" autocomplete="off"></label>
                      <button>Finish the login</button>
                    </form>
                    <button type="button" id="cancel-login">Cancel</button>
                  </div>
                  <div class="row" id="sharing">
                    <button type="button" id="share">Share with devices nearby</button>
                    <button type="button" id="unshare" hidden>Stop sharing</button>
                  </div>
                  <details>
                    <summary>Let in a device by its QR code</summary>
                    <form id="authorize" aria-label="Let in a device">
                      <label>Text of the code
                        <input name="text" required maxlength="1024" spellcheck="false" autocomplete="off"></label>
                      <label>Name of the device <input name="name" maxlength="64" autocomplete="off"></label>
                      <button>Ask for consent</button>
                    </form>
                  </details>
                </div>
              </section>

        """#

    static let rest = #"""
              <section aria-labelledby="accounts-title">
                <h2 id="accounts-title">Accounts</h2>
                <ul id="accounts" class="plain"></ul>
              </section>
            </div>
            <div class="column">
              <section aria-labelledby="messages-title">
                <details id="messages-box">
                  <summary>
                    <h2 id="messages-title">Messages <span id="message-count" class="count"></span></h2>
                  </summary>
                  <form id="publish" aria-label="Publish a message">
                    <label>Topic
                      <input name="topic" required maxlength="512" spellcheck="false" autocomplete="off"></label>
                    <label>Text <input name="payload" maxlength="4096" autocomplete="off"></label>
                    <button>Publish</button>
                  </form>
                  <p id="messages-note" class="quiet" role="status"></p>
                  <div class="scroll" tabindex="0" role="region" aria-label="Received messages">
                    <ol id="messages" class="plain lines"></ol>
                  </div>
                </details>
              </section>
              <section aria-labelledby="health-title">
                <div class="bar">
                  <h2 id="health-title">Health</h2>
                  <button type="button" id="examine">Check now</button>
                </div>
                <ul id="health" class="plain" aria-live="polite"></ul>
              </section>
              <section aria-labelledby="logs-title">
                <details id="logs-box">
                  <summary><h2 id="logs-title">Log</h2></summary>
                  <div class="bar"><label class="check"><input type="checkbox" id="details"> With details</label></div>
                  <div class="scroll" tabindex="0" role="region" aria-label="Log entries">
                    <ol id="logs" class="plain lines"></ol>
                  </div>
                </details>
              </section>
            </div>
          </div>
        </main>
        <p id="notice" role="alert" hidden></p>
        </body>
        </html>
        """#
}
