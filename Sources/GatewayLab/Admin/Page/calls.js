"use strict";
const $ = id => document.getElementById(id);

// The token comes in the fragment of the link and is kept for this tab only: not in its address or history.
function takeToken() {
  const given = location.hash.slice(1);
  if (!given) return;
  sessionStorage.setItem("token", given);
  history.replaceState(null, "", location.pathname);
}
takeToken();
const authorization = () => ({ "Authorization": "Bearer " + (sessionStorage.getItem("token") ?? "") });

class Locked extends Error {}

async function request(method, path, input) {
  const response = await fetch("api/" + path, {
    method, headers: { ...authorization(), ...(method === "GET" ? {} : { "Content-Type": "application/json" }) },
    body: method === "GET" ? undefined : JSON.stringify(input ?? {}),
  });
  if (response.status === 401) throw new Locked();
  return response;
}

async function call(method, path, input) {
  const response = await request(method, path, input), answer = await response.json();
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

function live(text, className) {
  $("live").textContent = text;
  $("live").className = className;
}

function lock(isLocked) {
  $("locked").hidden = !isLocked;
  $("content").hidden = isLocked;
  if (isLocked) live("no access", "off");
}

// Runs an action of the user, shows its error if it fails, and refreshes the page.
function act(work) {
  return async event => {
    event?.preventDefault();
    try { await work(event); } catch (error) {
      if (error instanceof Locked) lock(true); else notice(error.message);
    }
    refresh();
  };
}

// Asks before an action that cannot be undone; Escape closes the question too.
function confirmed(text, yes) {
  $("question-text").textContent = text;
  $("question-yes").textContent = yes;
  const dialog = $("question");
  return new Promise(resolve => {
    $("question-yes").onclick = () => dialog.close("yes");
    $("question-no").onclick = () => dialog.close("");
    // The event of the question before may come only now, when this one is open.
    dialog.onclose = () => { if (!dialog.open) resolve(dialog.returnValue === "yes"); };
    dialog.returnValue = "";
    dialog.showModal();
  });
}

let refreshing = false;
// Requests the whole state, at most five times a second.
function refresh() {
  if (refreshing) return;
  refreshing = true;
  setTimeout(async () => {
    refreshing = false;
    const query = new URLSearchParams();
    if ($("hide-telemetry").checked) query.set("telemetry", "no");
    if ($("match").value) query.set("match", $("match").value);
    try {
      show(await call("GET", "state?" + query));
      lock(false);
    } catch (error) {
      if (error instanceof Locked) lock(true);
      else if (error instanceof TypeError) notice("The lab is not responding.");
      else notice(error.message);
    }
  }, 200);
}

// The event stream signals changes. It is read with fetch, because an EventSource cannot send a token.
async function listen() {
  for (;;) {
    try {
      const reader = (await request("GET", "events")).body.getReader();
      live("live", "on");
      refresh();
      while (!(await reader.read()).done) refresh();
    } catch (error) {
      if (error instanceof Locked) return lock(true);
    }
    live("connection lost, retrying", "off");
    await new Promise(resolve => setTimeout(resolve, 3000));
  }
}
