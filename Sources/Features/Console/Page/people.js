// Accounts, sessions, sharing; and what starts the page.
function showAccounts(accounts) {
  $("accounts").replaceChildren(...accounts.map(account => {
    const facts = el("dl", { className: "facts" });
    const { gateway, server, backend, registration, certificate } = account;
    fact(facts, "Gateway", gateway?.url);
    fact(facts, "Server", server ? server.issuer ?? server.endpoints.token : backend?.url);
    fact(facts, "Grant", server?.grant.replaceAll("_", " "));
    fact(facts, "Tokens", server && account.tokens.length, account.needsPerson ? "warn" : "");
    fact(facts, "Registration", registration?.state, registration?.state === "registered" ? "good" : "warn");
    fact(facts, "Certificate", certificate?.daysLeft === undefined ? "" : daysLeft(certificate.daysLeft));
    fact(facts, "Messages", account.usesBroker ? "sent through this account" : "");
    fact(facts, "Last error", account.lastError?.message, "bad");
    const title = account.name + (account.isDefault ? " (default)" : "");
    return el("li", {}, el("h3", { textContent: title }), facts);
  }));
  if (!accounts.length) {
    $("accounts").append(el("li", { className: "quiet", textContent: "None: enroll the board first." }));
  }
  for (const [kind, show] of accountViews) show(accounts.filter(account => account.kind === kind));
  const own = accounts.filter(account => !accountViews.has(account.kind));
  showSessions(own);
  offerAccounts(own);
}

let shownSessions;
function showSessions(accounts) {
  const mark = JSON.stringify(accounts.map(account => [account.name, account.user]));
  if (mark === shownSessions) return;  // So that a button keeps its focus.
  shownSessions = mark;
  $("sessions").replaceChildren(...accounts.map(account => {
    const user = account.user?.loggedIn ? account.user : undefined;
    const locked = account.user?.locked ? account.user : undefined;
    const name = (user ?? locked)?.userName ?? "a user";
    const title = user ? name : locked ? `The session of ${name} is locked` : "No user is logged in";
    const item = el("li", {}, el("h3", { textContent: title }));
    const facts = el("dl", { className: "facts" });
    if (accounts.length > 1) fact(facts, "Account", account.name);
    fact(facts, "Since", time(user?.loggedInAt ?? locked?.lockedAt));
    fact(facts, "Session ends", time((user ?? locked)?.sessionEnds));
    item.append(facts);
    const path = `/v1/accounts/${account.name}`;
    const verb = user ? "Lock" : "Unlock";
    if ((user || locked) && account.gateway && rights.has("operate")) {
      item.append(el("button", {
        type: "button", textContent: verb, "aria-label": `${verb} the session of ${name} of ${account.name}`,
        onclick: act(() => runLogIn(`${path}/session/${verb.toLowerCase()}/prompted`, { answerers: "user" })),
      }));
    }
    if (user && rights.has("operate")) {
      item.append(el("button", {
        type: "button", textContent: "Log out",
        "aria-label": `Log out ${user.userName ?? ""} of ${account.name}`,
        onclick: act(async () => {
          await call("POST", `${path}/logout`, {});
          announce("Logged out.");
        }),
      }));
    }
    return item;
  }));
}

$("share").onclick = act(async () => {
  await call("POST", "/v1/proximity/sharing", {});
  announce("The session is shared for ten minutes.");
});
$("unshare").onclick = act(async () => {
  await call("DELETE", "/v1/proximity/sharing");
  announce("The session is no longer shared.");
});
$("authorize").onsubmit = act(async () => {
  const { text, name } = Object.fromEntries(new FormData($("authorize")));
  await call("POST", "/v1/proximity/authorizations", name ? { text, name } : { text });
  $("authorize").reset();
  notice("The device was let in.", true);
});

$("end").onclick = act(async () => {
  for (const stream of Object.values(streams)) stream.wanted = false;
  logIn?.abort();
  await call("DELETE", "/session").catch(() => {});
  sessionStorage.removeItem("key");
  lock("The session has ended.");
});

// Asks for the state, at most three times a second; events say when something has changed.
let asking = false, askAgain = false, aging;
async function refresh() {
  if (asking || $("content").hidden) { askAgain = asking; return; }
  asking = true;
  try {
    const [status, { prompts }] = await Promise.all([call("GET", "/v1/status"), call("GET", "/v1/prompts")]);
    showState(status);
    showAccounts(status.accounts ?? []);
    $("share").hidden = status.sharing === true;
    $("unshare").hidden = !$("share").hidden;
    showPrompts(prompts);
    live("live", "on");
    setStale(false);
    document.body.dataset.ready = "yes";
  } catch (error) {
    if (error.isLocked) lock(error.message);
    else if (error instanceof TypeError) setStale(true);
    else notice(error.message);
  }
  setTimeout(() => {
    asking = false;
    if (askAgain) { askAgain = false; refresh(); }
  }, 300);
  clearTimeout(aging);
  // Ages and remaining times grow old by themselves.
  if (!document.hidden) aging = setTimeout(refresh, 60000);
}

streams.events = new Stream("/v1/events", () => refresh());
streams.sensors = new Stream("/v1/sensors/stream", async event => {
  // The stream has readings as they are sent; the first are those that were taken before.
  showReadings(event ? event.data.readings : (await call("GET", "/v1/sensors")).readings);
});
streams.messages = new Stream("/v1/messages", showMessage, error => {
  // That the agent does not answer is said above.
  if (!(error instanceof TypeError)) $("messages-note").textContent = error.message;
});
streams.logs = new Stream("/v1/logs/stream", showLog);
for (const name of ["messages", "logs"]) {
  const box = $(`${name}-box`);
  box.ontoggle = () => streams[name].set(box.open);
}
$("messages-box").open = matchMedia("(min-width: 60rem)").matches;
document.addEventListener("visibilitychange", () => {
  if (document.hidden) clearTimeout(aging); else refresh();
});
if (new URLSearchParams(location.search).has("state")) land(); else begin();
