// Sessions, requests, and the streams, which are open only while the page is visible.
const $ = id => document.getElementById(id);

function el(tag, members = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(members)) {
    if (name.includes("-") || name === "role") made.setAttribute(name, value); else made[name] = value;
  }
  made.append(...children);
  return made;
}

// What the daemon answered in place of what was asked for.
class Refusal extends Error {
  constructor(error) {
    super(error.message + (error.remedy ? ` — ${error.remedy}` : ""));
    this.code = error.code;
    this.browserAnswer = error.browserAnswer;
  }
  get isLocked() { return LOCKING.includes(this.code); }
}

let rights = new Set();
let uid;

// A cookie alone would go to every port of this host; the key is this origin's, and this tab's.
async function send(method, path, input, { signal, accept = "application/json" } = {}) {
  const headers = { "Accept": accept, "X-Latchkey-Console": sessionStorage.getItem("key") ?? "" };
  if (input !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(path, {
    method, headers, signal, body: input === undefined ? undefined : JSON.stringify(input) });
  if (!response.ok) {
    const answer = await response.json().catch(() => ({}));
    throw new Refusal(answer.error ?? { message: `The agent answered with status ${response.status}.` });
  }
  return response;
}

const call = async (method, path, input) => (await send(method, path, input)).json();

// Reads a stream of events to its end.
async function read(method, path, input, signal, take) {
  const response = await send(method, path, input, { signal, accept: "application/x-ndjson" });
  take(undefined);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines.filter(line => line)) {
      const event = JSON.parse(line);
      if (event.event === "error") throw new Refusal(event.data.error);
      take(event);
    }
  }
}

const wait = (milliseconds, signal) => new Promise(resolve => {
  const timer = setTimeout(resolve, milliseconds);
  signal.addEventListener("abort", () => { clearTimeout(timer); resolve(); });
});

// Follows a stream while it is wanted and the page is visible, and opens it again when it breaks off.
// `take` gets undefined when the stream begins.
class Stream {
  constructor(path, take, failed = () => {}) { Object.assign(this, { path, take, failed, wanted: false }); }

  set(wanted) {
    this.wanted = wanted;
    const runs = wanted && !document.hidden && !$("content").hidden;
    if (runs === Boolean(this.stop)) return;
    this.stop?.abort();
    this.stop = runs ? new AbortController() : undefined;
    if (runs) this.run(this.stop.signal);
  }

  async run(signal) {
    for (let pause = 1000; !signal.aborted; pause = Math.min(2 * pause, 15000)) {
      try {
        await read("GET", this.path, undefined, signal, event => { pause = 1000; this.take(event); });
      } catch (error) {
        if (signal.aborted) return;
        if (error.isLocked) return lock(error.message);
        this.failed(error);
      }
      if (this === streams.events) { live("connection lost, trying again", "off"); refresh(); }
      await wait(pause, signal);
    }
  }
}

const streams = {};
const setStreams = () => Object.values(streams).forEach(stream => stream.set(stream.wanted));
document.addEventListener("visibilitychange", setStreams);

function live(text, className) {
  if ($("live").textContent !== text) $("live").textContent = text;
  $("live").className = className;
}

// What is shown when the agent does not answer is from its last answer, and looks so.
let answeredAt;
function setStale(isStale) {
  document.body.classList.toggle("stale", isStale);
  $("stale").hidden = !isStale;
  if (!isStale) { answeredAt = new Date(); return; }
  live("no answer", "off");
  const text = `The agent has not answered since ${answeredAt?.toLocaleTimeString() ?? "this page was opened"}; `
    + "what is shown is from then. If it was started again, run “latchkey console” on the board once more.";
  if ($("stale").textContent !== text) $("stale").textContent = text;
}

function lock(reason) {
  setStale(false);
  $("locked").hidden = false;
  $("content").hidden = $("end").hidden = true;
  $("locked-reason").textContent = reason ?? "";
  live("no session", "off");
  setStreams();
}

let noticeTimer;
function notice(text, isDone) {
  $("notice").textContent = text;
  $("notice").className = isDone ? "done" : "";
  $("notice").hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => { $("notice").hidden = true; }, 10000);
}

const announce = text => { $("announcer").textContent = text; };

// Runs what a person asked for, and says why when it fails.
const act = work => async event => {
  event?.preventDefault();
  try { await work(event); } catch (error) {
    if (error.isLocked) lock(error.message);
    else if (error instanceof TypeError) notice("The agent does not answer. Has the session ended?");
    else notice(error.message);
  }
  refresh();
};

// The token comes in the fragment of the address, and works only once.
async function begin() {
  const token = location.hash.slice(1);
  try {
    let session;
    if (token) {
      history.replaceState(null, "", location.pathname);
      session = await call("POST", "/session", { token });
      sessionStorage.setItem("key", session.key);
    } else if (sessionStorage.getItem("key")) {
      session = await call("GET", "/session");
    } else {
      return lock();
    }
    rights = new Set(session.permissions);
    uid = session.uid;
  } catch (error) {
    return lock(error.message);
  }
  $("locked").hidden = true;
  $("content").hidden = $("end").hidden = false;
  $("people").hidden = !rights.has("operate");
  $("publish").hidden = !rights.has("publish");
  live("connecting", "");
  streams.events.wanted = streams.sensors.wanted = true;
  setStreams();
}
addEventListener("hashchange", begin);
