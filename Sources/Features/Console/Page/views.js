// State, sensors, messages, health and log.
// Kinds of accounts with a part of the page of their own, and what shows those of a kind.
const accountViews = new Map();
function addAccountView(kind, show) { accountViews.set(kind, show); }

function fact(list, name, value, className = "") {
  if (value === undefined || value === null || value === "") return;
  list.append(el("dt", { textContent: name }), el("dd", { textContent: value, className }));
}

function span(seconds) {
  if (seconds === undefined || seconds === null) return "?";
  const units = [["d", 86400], ["h", 3600], ["min", 60]];
  for (const [unit, size] of units) if (seconds >= 2 * size) return `${Math.floor(seconds / size)} ${unit}`;
  return `${seconds} s`;
}

const time = text => text ? new Date(text).toLocaleString() : undefined;
function bytes(count) {
  const step = Math.min(4, Math.floor(Math.log2(Math.max(1, Math.abs(count))) / 10));
  return `${+(count / 1024 ** step).toFixed(1)} ${["B", "KiB", "MiB", "GiB", "TiB"][step]}`;
}

// As the commands show it; the names of SenML are not what people write.
function amount(value, unit) {
  if (unit === "B") return bytes(value);
  if (unit === "s" && value >= 120) return span(Math.floor(value));
  const number = Math.abs(value) < .1 ? +value.toPrecision(3) : +value.toFixed(3);
  return `${number} ${{ Cel: "°C", "%RH": "%", count: "" }[unit] ?? unit}`.trim();
}

const daysLeft = days => days < 0 ? `ended ${-days} days ago` : `${days} days left`;

function showState(status) {
  const list = el("dl");
  const { registration, certificate, token, broker, outbox } = status;
  fact(list, "Gateway", status.gateway?.url ?? "none", status.gateway ? "" : "warn");
  fact(list, "Registration", registration?.state, registration?.state === "registered" ? "good" : "warn");
  fact(list, "Device", registration?.deviceID);
  fact(list, "User", status.user?.userName);
  if (certificate?.daysLeft !== undefined) {
    const days = certificate.daysLeft;
    fact(list, "Certificate", daysLeft(days), days < 0 ? "bad" : days < 30 ? "warn" : "");
  }
  if (token) fact(list, "Token", `${span(token.lifeLeft)} left`);
  if (status.network) {
    const parts = [status.network.interface, `gateway ${status.network.gateway}`];
    fact(list, "Network", parts.filter(Boolean).join(", "));
  }
  if (broker) {
    fact(list, "Broker", `${broker.state}, ${broker.address}`, broker.state === "connected" ? "good" : "warn");
  }
  if (outbox && !outbox.error) {
    const oldest = outbox.oldestAge ? `, the oldest for ${span(outbox.oldestAge)}` : "";
    fact(list, "Outbox", `${outbox.depth} waiting, ${bytes(outbox.bytes)}${oldest}`);
    if (outbox.deadLetters) fact(list, "Not sent", `${outbox.deadLetters} messages set aside`, "warn");
  }
  if (status.sensors?.failing.length) fact(list, "Failing sensors", status.sensors.failing.join(", "), "bad");
  if (status.sharing) fact(list, "Sharing", "the user's session, with devices nearby");
  fact(list, "Up for", span(status.uptime));
  fact(list, "Version", status.version);
  $("state").replaceChildren(...list.children);
  const troubles = status.warnings.map(text => [text, ""]);
  for (const error of [status.vault?.error, status.outbox?.error, status.lastError]) {
    if (error?.message) troubles.push([error.message + (error.remedy ? ` — ${error.remedy}` : ""), "bad"]);
  }
  for (const file of status.setAside ?? []) troubles.push([`${file} was damaged and set aside`, ""]);
  const items = troubles.map(([textContent, className]) => el("li", { textContent, className }));
  $("troubles").replaceChildren(...items);
  hostName = status.hostName ?? "";
  $("board").textContent = [hostName, status.board, status.gateway?.host ?? "not enrolled"].filter(Boolean).join(", ");
}

const sensors = new Map();
const kept = 120;

function showReadings(readings) {
  for (const reading of readings) {
    let sensor = sensors.get(reading.name);
    if (!sensor) {
      const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      drawing.setAttribute("viewBox", `0 0 ${kept - 1} 32`);
      drawing.setAttribute("preserveAspectRatio", "none");
      drawing.setAttribute("role", "img");
      const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
      drawing.append(line);
      const value = el("span", { className: "value" });
      const range = el("span", { className: "range" });
      sensor = { values: [], value, line, drawing, range };
      sensors.set(reading.name, sensor);
      const name = el("span", { className: "name", textContent: reading.name });
      $("sensors").append(el("li", {}, name, value, drawing, range));
    }
    const shown = reading.value === null ? "no value" : amount(reading.value, reading.unit);
    sensor.value.textContent = reading.quality === "good" ? shown : `${shown} (${reading.quality})`;
    sensor.value.className = `value ${{ good: "", uncertain: "warn" }[reading.quality] ?? "bad"}`;
    if (reading.value !== null) sensor.values.push(reading.value);
    if (sensor.values.length > kept) sensor.values.shift();
    draw(sensor, reading);
  }
  $("sensor-count").textContent = sensors.size || "";
  $("no-sensors").hidden = sensors.size > 0;
}

function draw({ values, line, drawing, range }, { name, unit }) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const height = value => most === least ? 16 : 30 - 28 * (value - least) / (most - least);
  // A few readings take the right part, more of them the whole width.
  const slots = Math.max(values.length, 20) - 1;
  const place = index => ((slots - values.length + 1 + index) * (kept - 1) / slots).toFixed(1);
  const points = values.map((value, index) => `${place(index)},${height(value).toFixed(1)}`);
  // One reading is a point, which a line would not show.
  if (values.length === 1) points.unshift(`${place(-1)},16`);
  line.setAttribute("points", points.join(" "));
  drawing.setAttribute("aria-label", values.length
    ? `${name}: ${values.length} readings from ${amount(least, unit)} to ${amount(most, unit)}`
    : `${name}: no readings`);
  range.textContent = most > least ? `${amount(least, unit)} to ${amount(most, unit)}` : "";
}

// Adds a line to a list, and drops the oldest of too many.
function addLine(list, first, head, content, className = "") {
  const item = el(
    "li", { className }, el("span", { className: "head", textContent: head }),
    el("code", { textContent: content }));
  if (first) list.prepend(item); else list.append(item);
  while (list.children.length > 200) (first ? list.lastChild : list.firstChild).remove();
}

let messageCount = 0;
function showMessage(event) {
  if (event === undefined) return;
  if (event.event === "subscribed") $("messages-note").textContent = "Messages are shown as they arrive.";
  if (event.event === "lagged") $("messages-note").textContent = event.data.message;
  if (event.event !== "message") return;
  const { data } = event;
  const from = data.envelope?.displayName ?? data.envelope?.senderID;
  const head = [time(data.receivedAt), data.ownTopic ?? data.topic, from && `from ${from}`];
  const content = data.text ?? `${data.bytes} bytes that are not text`;
  addLine($("messages"), true, head.filter(Boolean).join(" · "), content.slice(0, 4096));
  messageCount += 1;
  $("message-count").textContent = messageCount;
}

function showLog(event) {
  if (event === undefined) return $("logs").replaceChildren();
  const { time: when, level, text } = event.data;
  const isDetail = level === "trace" || level === "debug";
  const marks = { trace: "detail", debug: "detail", warning: "warn", error: "bad", critical: "bad" };
  addLine($("logs"), true, `${time(when)} · ${level}`, text, marks[level] ?? "");
  if (isDetail) $("logs").firstChild.hidden = !$("details").checked;
}
$("details").onchange = () => {
  for (const item of document.querySelectorAll("#logs .detail")) item.hidden = !$("details").checked;
};

$("examine").onclick = act(async () => {
  $("examine").disabled = true;
  try {
    const { checks } = await call("GET", "/v1/doctor");
    const marks = { pass: "good", warn: "warn", fail: "bad" };
    $("health").replaceChildren(...checks.map(({ name, verdict, message, remedy }) => el("li", {},
      el("h3", {}, name, " ", el("span", { className: marks[verdict] ?? "quiet", textContent: verdict })),
      el("p", { textContent: message }),
      remedy ? el("p", { className: "quiet", textContent: remedy }) : "")));
  } finally { $("examine").disabled = false; }
});

$("publish").onsubmit = act(async () => {
  const { topic, payload } = Object.fromEntries(new FormData($("publish")));
  await call("POST", "/v1/messages", { topic, payload });
  notice(`Published to ${topic}.`, true);
});
