extension AdminPage {
    /// Asks for the whole state whenever the event stream says that something happened, at most five times a second.
    static let script = #"""
        "use strict";
        const $ = id => document.getElementById(id);

        async function call(method, path, input) {
          const response = await fetch("api/" + path, {
            method, headers: method === "GET" ? {} : { "Content-Type": "application/json" },
            body: method === "GET" ? undefined : JSON.stringify(input ?? {}),
          });
          const answer = await response.json();
          if (!response.ok) throw new Error(answer.error ?? response.statusText);
          return answer;
        }

        let noticeTimer;
        function notice(text) {
          $("notice").textContent = text;
          $("notice").hidden = false;
          clearTimeout(noticeTimer);
          noticeTimer = setTimeout(() => { $("notice").hidden = true; }, 6000);
        }

        // Runs an action of the user; what goes wrong is said, and the page is brought up to date.
        function act(work) {
          return async event => {
            event?.preventDefault();
            try { await work(event); } catch (error) { notice(error.message); }
            refresh();
          };
        }

        function element(name, text, className) {
          const made = document.createElement(name);
          if (text !== undefined && text !== null) made.textContent = text;
          if (className) made.className = className;
          return made;
        }

        const clock = seconds => new Date(seconds * 1000).toLocaleTimeString([], { hour12: false });
        const short = id => id ? id.slice(0, 8) : "";
        function span(seconds) {
          if (seconds < 0) return "ended";
          for (const [unit, size] of [["days", 86400], ["h", 3600], ["min", 60]]) {
            if (seconds >= 2 * size) return Math.floor(seconds / size) + " " + unit;
          }
          return seconds + " s";
        }

        // Device identifiers are 64 digits; eight tell them apart for the eye.
        const shortened = text => text.replace(/[0-9a-f]{64}/g, id => id.slice(0, 8) + "…");

        let devices = new Map();
        const deviceName = mag => devices.get(mag)?.name ?? short(mag);

        function rows(body, items, cells, empty) {
          const columns = body.parentElement.tHead.rows[0].cells.length;
          body.replaceChildren(...items.map(item => {
            const row = element("tr");
            for (const cell of cells(item)) {
              const data = element("td");
              data.append(cell ?? "");
              row.append(data);
            }
            return row;
          }));
          if (items.length) return;
          const row = element("tr"), data = element("td", empty, "quiet");
          data.colSpan = columns;
          row.append(data);
          body.append(row);
        }

        function deviceCard(device, now) {
          const card = element("li"), title = element("h3", device.name);
          title.append(
            element("span", device.status === "active" ? "registered" : "awaits activation", "badge " + (device.status === "active" ? "good" : "warn")),
            element("span", device.connected ? "broker" : "no broker", "badge " + (device.connected ? "good" : "quiet")));
          const list = element("dl"), days = device.certificate_ends - now;
          for (const [term, value, className] of [
            ["mag", device.mag_identifier], ["device", device.device_id], ["registered by", device.user ?? "itself"], ["logged in", device.logged_in.join(", ") || "nobody"],
            ["certificate", span(days) + (days < 0 ? "" : " left"), days < 0 ? "bad" : days < 30 * 86400 ? "warn" : ""],
          ]) {
            const data = element("dd", value, className);
            data.title = value;
            list.append(element("dt", term), data);
          }
          const buttons = element("div", null, "row");
          const add = (text, method, action, className) => {
            const button = element("button", text, className);
            button.setAttribute("aria-label", text + ": " + device.name);
            button.onclick = act(() => call(method, "devices/" + encodeURIComponent(device.mag_identifier) + action));
            buttons.append(button);
          };
          if (device.status !== "active") add("Activate", "POST", "/activate");
          add("Revoke tokens", "POST", "/revoke-tokens");
          add("Disable tokens", "POST", "/disable-tokens");
          add("Remove", "DELETE", "", "danger");
          card.append(title, list, buttons);
          return card;
        }

        // What a person can do about a log-in; each user of the lab has a button.
        function decisions(login, users) {
          const buttons = element("div", null, "row");
          if (login.status !== "waiting") return buttons;
          const add = (text, action, input, className) => {
            const button = element("button", text, className);
            button.onclick = act(() => call("POST", "authorizations/" + encodeURIComponent(login.id) + "/" + action, input));
            buttons.append(button);
          };
          for (const user of users) add("As " + user, "authorize", { user });
          add("Refuse", "refuse", {}, "danger");
          return buttons;
        }

        function faultText(fault) {
          const what = { status: "status " + fault.status, error: "x-ca-err " + fault.code + " (" + fault.status + ")", delay: "delay " + fault.milliseconds + " ms" }[fault.kind] ?? fault.kind;
          return what + " at " + (fault.endpoint ?? "every endpoint") + (fault.times ? ", " + fault.times + " more" : "");
        }

        function eventKind(event) {
          const bad = (event.status ?? 0) >= 400 || event.kind === "fault";
          return element("span", event.endpoint ?? event.kind, bad ? "bad" : event.kind === "request" ? "quiet" : "good");
        }

        function show(state) {
          const now = state.lab.now;
          devices = new Map(state.devices.map(device => [device.mag_identifier, device]));
          $("gateway").textContent = state.lab.base_url;
          $("broker").textContent = state.lab.broker_port ? state.lab.host + ":" + state.lab.broker_port : "none";
          ahead = now * 1000 - Date.now();
          if (document.activeElement !== $("face")) $("face").value = state.lab.face;
          const clients = state.lab.clients;
          $("client-choice").hidden = clients.length < 2;
          if ($("client").options.length !== clients.length) $("client").replaceChildren(...clients.map(id => element("option", id)));
          $("device-count").textContent = state.devices.length || "";
          $("devices").replaceChildren(...state.devices.map(device => deviceCard(device, now)));
          if (!state.devices.length) $("devices").append(element("p", "No device has registered. Mint an enrollment URL and give it to a board.", "empty"));
          const waiting = state.authorizations.filter(login => login.status === "waiting").length;
          $("login-count").textContent = waiting ? waiting + " waiting" : "";
          rows($("logins"), state.authorizations, login => [
            span(login.expires_at - now), login.mag_identifier ? deviceName(login.mag_identifier) : "not registered",
            element("span", login.status, login.status === "waiting" ? "warn" : login.status === "denied" ? "bad" : login.status === "ended" ? "quiet" : "good"),
            login.user ?? "none", login.scopes.join(" "), decisions(login, state.users),
          ], "Nobody has asked to log in.");
          $("message-count").textContent = state.messages.length || "";
          rows($("messages"), state.messages, message => {
            const [mag] = message.sender.split("::"), payload = element("code", message.payload || "(empty)");
            const topic = element("code", shortened(message.topic) + (message.retained ? "  (retained)" : ""));
            topic.title = message.topic;
            return [clock(message.time), deviceName(mag), topic, payload];
          }, "Nothing has been published.");
          rows($("events"), state.events, event => [
            clock(event.time), eventKind(event), shortened(event.text) + (event.error_code ? "  x-ca-err " + event.error_code : ""), deviceName(event.mag_identifier),
          ], "Nothing has happened.");
          $("token-count").textContent = state.tokens.length || "";
          rows($("tokens"), state.tokens, token => [
            element("code", token.token), deviceName(token.mag_identifier), token.user ?? "none",
            element("span", token.disabled ? "disabled" : span(token.expires_at - now), token.disabled || token.expires_at < now ? "bad" : ""),
            token.scopes.join(" "),
          ], "No token has been issued.");
          $("faults").replaceChildren(...state.faults.map(fault => element("li", faultText(fault))));
        }

        // How far the lab's clock is ahead of the browser's, in milliseconds.
        let ahead = null;
        setInterval(() => {
          if (ahead !== null) $("now").textContent = new Date(Date.now() + ahead).toLocaleString([], { hour12: false });
        }, 1000);

        let waiting = false;
        async function refresh() {
          if (waiting) return;
          waiting = true;
          setTimeout(async () => {
            waiting = false;
            try { show(await call("GET", "state")); } catch (error) { notice("The lab does not answer."); }
          }, 200);
        }

        function listen() {
          const source = new EventSource("api/events");
          const live = (text, className) => { $("live").textContent = text; $("live").className = className; };
          source.onopen = () => { live("live", "on"); refresh(); };
          source.onerror = () => live("lost, trying again", "off");
          source.addEventListener("event", refresh);
          source.addEventListener("message", refresh);
        }

        function faultFields() {
          const kind = $("fault").elements.kind.value;
          for (const label of $("fault").querySelectorAll("[data-for]")) label.hidden = !label.dataset.for.split(" ").includes(kind);
        }

        const endpoints = { E1: "enrollment", E2: "initialize client", E3: "authorize", E3a: "login page", E3b: "consent", E3c: "enterprise log-in", E4: "register by user", E5: "register by client", E6: "renew", E7: "remove", E8: "token", E9: "revoke", E10: "log out", E11: "session status", E12: "userinfo", E17: "discovery", E18: "key set", E19: "authorize a device", E20: "poll", L1: "hello", L2: "echo", L3: "scoped" };
        for (const [id, name] of Object.entries(endpoints)) {
          const option = element("option", id + " " + name);
          option.value = id;
          $("fault").elements.endpoint.append(option);
        }

        $("mint").onclick = act(async () => {
          const input = $("client").value ? { client_id: $("client").value } : {};
          const ticket = await call("POST", "enrollments", input);
          $("qr").src = "data:image/svg+xml," + encodeURIComponent(ticket.qr_svg);
          $("ticket-url").value = ticket.url;
          $("ticket-life").textContent = "Works once, within " + span(ticket.expires_in) + ".";
          $("ticket").hidden = false;
        });
        $("copy").onclick = act(async () => {
          await navigator.clipboard.writeText("latchkey enroll '" + $("ticket-url").value + "'");
          $("copy").textContent = "Copied";
          setTimeout(() => { $("copy").textContent = "Copy command"; }, 2000);
        });
        $("fault").onchange = faultFields;
        $("fault").onsubmit = act(async () => {
          const fields = $("fault").elements, input = { kind: fields.kind.value };
          if (fields.endpoint.value) input.endpoint = fields.endpoint.value;
          for (const name of ["status", "code", "milliseconds", "times"]) {
            if (!fields[name].closest("label").hidden && fields[name].value) input[name] = Number(fields[name].value);
          }
          await call("POST", "faults", input);
        });
        $("clear-faults").onclick = act(() => call("DELETE", "faults"));
        $("face").onchange = act(event => call("POST", "face", { face: event.target.value }));
        for (const button of document.querySelectorAll("[data-part]")) {
          button.onclick = act(() => call("POST", button.dataset.part));
        }
        faultFields();
        listen();
        """#
}
