function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  if (className) made.className = className;
  return made;
}

// A button keeps the focus when its list is rebuilt: it is identified by its key.
function button(text, name, key, work, className) {
  const made = element("button", text, className);
  made.type = "button";
  made.setAttribute("aria-label", name);
  made.dataset.key = key;
  made.onclick = work;
  return made;
}

function fill(list, nodes) {
  const key = list.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  list.replaceChildren(...nodes);
  if (key) list.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
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

// Device identifiers have 64 digits; eight are enough for people to distinguish them.
const shortened = text => text.replace(/[0-9a-f]{64}/g, id => id.slice(0, 8) + "…");

let devices = new Map();
const deviceName = mag => devices.get(mag)?.name ?? short(mag);
// Two devices may have the same name.
const fullName = device => device.name + " (" + short(device.mag_identifier) + ")";

function copier(text, what, key) {
  const made = button("Copy", "Copy " + what, key, act(async () => {
    await navigator.clipboard.writeText(text);
    notice("Copied " + what + ".");
  }), "small");
  return made;
}

function rows(body, items, cells, empty) {
  const heads = Array.from(body.parentElement.tHead.rows[0].cells, head => head.textContent);
  const made = items.map(item => {
    const row = element("tr");
    row.setAttribute("role", "row");
    cells(item).forEach((cell, column) => {
      const data = element("td");
      data.setAttribute("role", "cell");
      data.dataset.label = heads[column];
      data.append(cell ?? "");
      row.append(data);
    });
    return row;
  });
  if (!items.length) {
    const row = element("tr"), data = element("td", empty, "quiet");
    data.colSpan = heads.length;
    row.append(data);
    made.push(row);
  }
  fill(body, made);
}

function deviceCard(device, now) {
  const card = element("li"), title = element("h3", device.name);
  title.append(
    element("span", device.status === "active" ? "registered" : "awaits activation", "badge " + (device.status === "active" ? "good" : "warn")),
    element("span", device.connected ? "broker" : "no broker", "badge " + (device.connected ? "good" : "quiet")));
  const list = element("dl"), days = device.certificate_ends - now, mag = device.mag_identifier;
  for (const [term, value, className, id] of [
    ["mag", mag, "id", "mag-identifier"], ["device", device.device_id, "id", "device id"],
    ["registered by", device.user ?? "itself"], ["logged in", device.logged_in.join(", ") || "none"],
    ["certificate", span(days) + (days < 0 ? "" : " left"), days < 0 ? "bad" : days < 30 * 86400 ? "warn" : ""],
  ]) {
    const data = element("dd", value, className);
    if (id) data.append(" ", copier(value, id + " of " + fullName(device), "copy " + id + mag));
    list.append(element("dt", term), data);
  }
  const buttons = element("div", null, "row");
  const add = (text, method, action, className, question) => {
    buttons.append(button(text, text + ": " + fullName(device), text + mag, act(async () => {
      if (question && !await confirmed(question, text)) return;
      await call(method, "devices/" + encodeURIComponent(mag) + action);
    }), className));
  };
  if (device.status !== "active") add("Activate", "POST", "/activate");
  add("Revoke tokens", "POST", "/revoke-tokens");
  add("Disable tokens", "POST", "/disable-tokens");
  add("Remove", "DELETE", "", "danger", "Remove " + fullName(device) + "? It has to enroll again to come back.");
  card.append(title, list, buttons);
  return card;
}

// The actions for a login; each user of the lab has a button.
function decisions(login, users) {
  const buttons = element("div", null, "row");
  if (login.status !== "waiting") return buttons;
  const title = "login " + short(login.id) + (login.mag_identifier ? " of " + deviceName(login.mag_identifier) : "");
  const add = (text, name, action, input, className) => {
    buttons.append(button(text, name, text + login.id, act(
      () => call("POST", "authorizations/" + encodeURIComponent(login.id) + "/" + action, input)), className));
  };
  for (const user of users) add("As " + user, "Authorize " + title + " as " + user, "authorize", { user });
  add("Refuse", "Refuse " + title, "refuse", {}, "danger");
  return buttons;
}

// Topics that are shown in full until they are shortened again.
const openTopics = new Set();
function topicCell(message, index) {
  const cell = element("span"), brief = shortened(message.topic), isOpen = openTopics.has(message.topic);
  cell.append(element("code", isOpen ? message.topic : brief));
  if (message.retained) cell.append(element("span", "retained", "badge quiet"));
  if (brief === message.topic) return cell;
  const more = button(isOpen ? "Less" : "More", isOpen ? "Shorten the topic" : "Show the full topic " + brief, "topic" + index, () => {
    if (!openTopics.delete(message.topic)) openTopics.add(message.topic);
    render();
  }, "small");
  more.setAttribute("aria-expanded", isOpen);
  cell.append(" ", more);
  if (isOpen) cell.append(" ", copier(message.topic, "the topic", "copy topic" + index));
  return cell;
}

function faultText(fault) {
  const what = { status: "status " + fault.status, error: "x-ca-err " + fault.code + " (" + fault.status + ")", delay: "delay " + fault.milliseconds + " ms", lie: "lie " + fault.lie }[fault.kind] ?? fault.kind;
  return what + " at " + (fault.endpoint ?? "every endpoint") + (fault.times ? ", " + fault.times + " more" : "");
}

function eventKind(event) {
  const bad = (event.status ?? 0) >= 400 || event.kind === "fault";
  return element("span", event.endpoint ?? event.kind, bad ? "bad" : event.kind === "request" ? "quiet" : "good");
}

// Messages and events from when the page was paused; `null` while it is not.
let held = null;
let current = null;

function show(state) {
  current = state;
  render();
}

function render() {
  const state = current;
  if (!state) return;
  const now = state.lab.now, shown = held ?? state;
  devices = new Map(state.devices.map(device => [device.mag_identifier, device]));
  $("gateway").textContent = state.lab.base_url;
  $("broker").textContent = state.lab.broker_port ? state.lab.host + ":" + state.lab.broker_port : "none";
  ahead = now * 1000 - Date.now();
  if (document.activeElement !== $("face")) $("face").value = state.lab.face;
  const clients = state.lab.clients;
  $("client-choice").hidden = clients.length < 2;
  if ($("client").options.length !== clients.length) $("client").replaceChildren(...clients.map(id => element("option", id)));
  $("device-count").textContent = state.devices.length || "";
  fill($("devices"), state.devices.length ? state.devices.map(device => deviceCard(device, now))
    : [element("li", "No device has registered. Mint an enrollment URL and give it to a board.", "empty")]);
  const waiting = state.authorizations.filter(login => login.status === "waiting").length;
  $("login-count").textContent = waiting ? waiting + " waiting" : "";
  rows($("logins"), state.authorizations, login => [
    span(login.expires_at - now), login.mag_identifier ? deviceName(login.mag_identifier) : "not registered",
    element("span", login.status, login.status === "waiting" ? "warn" : login.status === "denied" ? "bad" : login.status === "ended" ? "quiet" : "good"),
    login.user ?? "none", login.scopes.join(" "), decisions(login, state.users),
  ], "No logins.");
  $("message-count").textContent = held ? "paused" : state.messages.length || "";
  rows($("messages"), shown.messages, message => {
    const [mag] = message.sender.split("::"), payload = element("code", message.payload || "(empty)");
    return [clock(message.time), deviceName(mag), topicCell(message, shown.messages.length - shown.messages.indexOf(message)), payload];
  }, $("match").value || $("hide-telemetry").checked ? "No message matches." : "No messages.");
  rows($("events"), shown.events, event => [
    clock(event.time), eventKind(event), shortened(event.text) + (event.error_code ? "  x-ca-err " + event.error_code : ""), deviceName(event.mag_identifier),
  ], "No events.");
  $("token-count").textContent = state.tokens.length || "";
  rows($("tokens"), state.tokens, token => [
    element("code", token.token), deviceName(token.mag_identifier), token.user ?? "none",
    element("span", token.disabled ? "disabled" : span(token.expires_at - now), token.disabled || token.expires_at < now ? "bad" : ""),
    token.scopes.join(" "),
  ], "No tokens.");
  renderMPin(state.mpin, now);
  fill($("faults"), state.faults.map(fault => element("li", faultText(fault))));
}
