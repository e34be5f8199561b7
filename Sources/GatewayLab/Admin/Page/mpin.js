// Codes that are being typed, which a rebuilt list has to keep.
const typed = new Map();

function mpinState(user) {
  const cell = element("span"), add = (text, tone) => cell.append(element("span", text, "badge " + tone));
  add({ started: "not verified", active: "verified", issued: "enrolled" }[user.status], user.status === "started" ? "warn" : "good");
  for (const [name, text] of [["blocked", "blocked"], ["revoked", "revoked"], ["expired", "secret expired"]]) {
    if (user[name]) add(text, "bad");
  }
  return cell;
}

function mpinActions(user) {
  const row = element("div", null, "row"), name = user.user + " (" + user.id.slice(-16, -4) + ")";
  const add = (text, action, input, className, question) => {
    row.append(button(text, text + " M-Pin user " + name, text + user.id, act(async () => {
      if (question && !await confirmed(question, text)) return;
      await call("POST", "mpin/users/" + user.id + "/" + action, input?.() ?? {});
    }), className));
  };
  if (user.status === "started") {
    const code = element("input");
    code.setAttribute("aria-label", "Activation code of " + name);
    code.placeholder = "Activation code";
    code.size = 12;
    code.autocomplete = "off";
    code.dataset.key = "code" + user.id;
    code.value = typed.get(user.id) ?? "";
    code.oninput = () => typed.set(user.id, code.value);
    row.append(code);
    add("Enter code", "activate", () => ({ code: typed.get(user.id) ?? "" }));
    add("Follow link", "activate");
  }
  add(user.blocked ? "Unblock" : "Block", user.blocked ? "unblock" : "block");
  add(user.revoked ? "Restore" : "Revoke", user.revoked ? "restore" : "revoke");
  add("Remove", "remove", null, "danger", "Remove M-Pin user " + name + "? The user has to register again to come back.");
  return row;
}

function renderMPin(state, now) {
  $("mpin-url").textContent = state.url;
  $("mpin-count").textContent = state.users.length || "";
  rows($("mpin"), state.users, user => [
    element("span", user.user + (user.device_name ? " on " + user.device_name : "")), mpinState(user), String(user.failures),
    element("code", user.activation_code ?? user.one_time_password ?? ""), mpinActions(user),
  ], "No M-Pin users.");
  rows($("mpin-browsers"), state.browsers, browser => [
    element("code", browser.url ?? browser.code), browser.status, browser.user ?? "none", span(browser.ends_at - now),
  ], "No browsers.");
  fill($("mpin-violations"), state.violations.map(text => element("li", text, "bad")));
}
$("mpin-number").onclick = act(() => call("POST", "mpin/browsers"));
$("mpin-qr").onclick = act(() => call("POST", "mpin/browsers", { qr: true }));
