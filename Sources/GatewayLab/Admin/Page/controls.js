// Difference of the lab's clock to the browser's, in milliseconds.
let ahead = null;
setInterval(() => {
  if (ahead !== null) $("now").textContent = new Date(Date.now() + ahead).toLocaleString([], { hour12: false });
}, 1000);

function faultFields() {
  const kind = $("fault").elements.kind.value;
  for (const label of $("fault").querySelectorAll("[data-for]")) label.hidden = !label.dataset.for.split(" ").includes(kind);
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
$("hide-telemetry").onchange = refresh;
$("match").oninput = refresh;
$("pause").onclick = () => {
  held = held ? null : current;
  $("pause").textContent = held ? "Resume" : "Pause";
  $("pause").setAttribute("aria-label", (held ? "Resume" : "Pause") + " messages and events");
  $("pause").setAttribute("aria-pressed", held !== null);
  render();
};
$("fault").onchange = faultFields;
$("fault").onsubmit = act(async () => {
  const fields = $("fault").elements, input = { kind: fields.kind.value };
  if (fields.endpoint.value) input.endpoint = fields.endpoint.value;
  for (const name of ["status", "code", "milliseconds", "times"]) {
    if (!fields[name].closest("label").hidden && fields[name].value) input[name] = Number(fields[name].value);
  }
  if (input.kind === "lie") input.lie = fields.lie.value;
  await call("POST", "faults", input);
});
$("clear-faults").onclick = act(() => call("DELETE", "faults"));
$("face").onchange = act(event => call("POST", "face", { face: event.target.value }));
for (const button of document.querySelectorAll("[data-part]")) {
  button.onclick = act(() => call("POST", button.dataset.part));
}
// The same tab may open the link of another lab.
window.onhashchange = () => { takeToken(); location.reload(); };
faultFields();
listen();
