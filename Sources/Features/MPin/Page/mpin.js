let shownMPin;
// Users of a back end have no session on this board.
addAccountView("mpin", backends => {
  const mark = JSON.stringify(backends);
  if (mark === shownMPin) return;  // So that a button keeps its focus.
  shownMPin = mark;
  $("mpin-box").hidden = !backends.length;
  $("mpin-new").hidden = !rights.has("operate");
  $("mpin").replaceChildren(...backends.flatMap(account =>
    (account.users ?? []).map(user => mpinItem(account, user))));
  const names = backends.map(account => account.name);
  $("mpin-account").replaceChildren(...names.map(name => el("option", { value: name, textContent: name })));
  $("mpin-account-choice").hidden = names.length < 2;
});

const mpinStates = {
  INVALID: ["not registered", ""], STARTED_REGISTRATION: ["waits for the back end to verify the user", "warn"],
  ACTIVATED: ["verified", "warn"], REGISTERED: ["registered", "good"], BLOCKED: ["blocked", "bad"],
};

function mpinItem(account, user) {
  const item = el("li", {}, el("h3", { textContent: user.user }));
  const facts = el("dl", { className: "facts" });
  fact(facts, "Back end", account.name);
  const [state, look] = user.confirmed ? ["waits for a PIN", "warn"] : mpinStates[user.state];
  fact(facts, "State", state, look);
  item.append(facts);
  if (!rights.has("operate")) return item;
  const path = `/v1/accounts/${account.name}/mpin/users/${encodeURIComponent(user.user)}`;
  const row = el("div", { className: "row" });
  const button = (text, work) => row.append(el("button", {
    type: "button", textContent: text, "aria-label": `${text}: ${user.user} at ${account.name}`,
    onclick: act(work),
  }));
  const ask = (route, input, done) => runLogIn(`${path}/${route}/prompted`, { ...input, answerers: "user" },
    event => event.event.startsWith("prompt.") ? showStep(event.data) : done(event.data));
  const logIn = (by, done, more = {}) => ask("login", { by, ...more }, done);
  const welcome = () => notice(`${user.user} is logged in by M-Pin.`, true);
  if (user.state === "INVALID") button("Register", () => call("POST", `${path}/register`, {}));
  if (user.confirmed) {
    button("Choose PIN", () => ask("finish", {}, () => notice(`${user.user} is registered.`, true)));
  } else if (user.state === "STARTED_REGISTRATION" || user.state === "ACTIVATED") {
    button("Confirm", () => call("POST", `${path}/confirm`, {}));
    if (user.state === "STARTED_REGISTRATION") {
      button("Verify again", () => call("POST", `${path}/register`, { restart: true }));
    }
  }
  if (user.state === "REGISTERED") {
    button("Log in", () => logIn("login", welcome));
    button("One-time password", () =>
      logIn("otp", ({ otp }) => notice(`One-time password: ${otp.password}`, true)));
    item.append(row, mpinBrowser(user, number => logIn("access-number", welcome, { accessNumber: number })));
  } else {
    button("Delete", () => call("DELETE", path));
    item.append(row);
  }
  return item;
}

// A number that another browser shows.
function mpinBrowser(user, work) {
  const input = el("input", { required: true, maxLength: 64, spellcheck: false, autocomplete: "off" });
  const form = el("form", { "aria-label": `Log in a browser: ${user.user}` },
    el("label", {}, "Number that a browser shows", input), el("button", { textContent: "Log in there" }));
  form.onsubmit = act(async () => {
    const number = input.value.trim();
    input.value = "";
    await work(number);
  });
  return form;
}

$("mpin-make").onsubmit = act(async () => {
  const path = `/v1/accounts/${$("mpin-account").value}/mpin/users`;
  const form = new FormData($("mpin-make"));
  const [user, deviceName] = [form.get("user"), form.get("deviceName").trim()];
  const { advice, wantsDeviceName } = await call("POST", path, deviceName ? { user, deviceName } : { user });
  $("mpin-advice").replaceChildren(...advice.map(textContent => el("li", { textContent })));
  if (wantsDeviceName && $("mpin-device").hidden) {  // Asked for once: it may be left empty.
    $("mpin-device").hidden = false;
    $("mpin-device").querySelector("input").focus();
    return announce("The back end asks for a name of this board.");
  }
  $("mpin-make").reset();
  $("mpin-device").hidden = true;
  await call("POST", `${path}/${encodeURIComponent(user)}/register`, {});
  announce(`The back end will verify ${user}.`);
});
