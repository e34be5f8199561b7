// The questions that wait, each with the form that its kind needs.
let hostName = "";
let ownQuestion;  // The number of the prompt that a log-in of this page has asked, until it is shown.
const asked = new Map();  // The prompts that are shown, by number: the item, and what it was made of.

function showPrompts(prompts) {
  const now = new Map(prompts.map(prompt => [prompt.id, prompt]));
  for (const [id, { item }] of asked) {
    if (now.has(id)) continue;
    const hadFocus = item.contains(document.activeElement);
    item.remove();
    asked.delete(id);
    if (hadFocus) { $("prompts-title").tabIndex = -1; $("prompts-title").focus(); }
  }
  for (const prompt of prompts) {
    const mark = JSON.stringify([prompt.state, prompt.attemptsLeft, prompt.fault]);
    const known = asked.get(prompt.id);
    if (known?.mark === mark) { known.ends = end(prompt); continue; }
    const hadFocus = known?.item.contains(document.activeElement);
    const item = promptItem(prompt);
    if (known) known.item.replaceWith(item); else $("prompts").append(item);
    asked.set(prompt.id, { item, mark, ends: end(prompt) });
    // While an answer is checked there is nothing to type into, and the focus waits at the question.
    if (hadFocus) (item.querySelector("input, button") ?? item.firstChild).focus();
    if (!known) announce(`A question waits: ${prompt.text}`);
  }
  $("prompt-count").textContent = prompts.length || "";
  $("no-prompts").hidden = prompts.length > 0;
  document.title = (prompts.length ? `(${prompts.length}) ` : "") + (hostName ? `${hostName} – ` : "")
    + $("title").textContent;
  if (asked.has(ownQuestion)) {
    asked.get(ownQuestion).item.querySelector("input")?.focus();
    ownQuestion = undefined;
  }
  count();
}

const end = prompt => prompt.secondsLeft === null ? undefined : Date.now() + 1000 * prompt.secondsLeft;

let counting;
function count() {
  let runs = false;
  for (const { item, ends } of asked.values()) {
    if (ends === undefined) continue;
    runs = true;
    const secondsLeft = Math.max(0, Math.round((ends - Date.now()) / 1000));
    item.querySelector(".left").textContent = `ends in ${span(secondsLeft)}`;
  }
  clearTimeout(counting);
  if (runs && !document.hidden) counting = setTimeout(count, 1000);
}

function promptItem(prompt) {
  const title = el("h3", { id: `prompt-${prompt.id}`, tabIndex: -1, textContent: prompt.text });
  const item = el("li", {}, title);
  if (prompt.fault) item.append(el("p", { className: "bad", role: "alert", textContent: prompt.fault }));
  const facts = el("dl", { className: "facts" });
  const subject = prompt.subject ?? {};
  fact(facts, "Device", subject.name);
  fact(facts, "Address", subject.address);
  fact(facts, "Asks through", { ble: "Bluetooth", qr: "QR code" }[subject.way]);
  fact(facts, subject.way ? "In the name of" : "User", subject.user);
  if (prompt.attemptsLeft !== null) fact(facts, "Attempts left", prompt.attemptsLeft);
  if (prompt.answerers === "operators-and-button") fact(facts, "Or", "press the board's button");
  if (facts.children.length) item.append(facts);
  let obstacle;
  if (prompt.state === "checking") obstacle = "The answer is being checked.";
  else if (!rights.has("operate")) obstacle = "You may not answer: that requires the right to operate.";
  else if (prompt.answerers === "user" && prompt.uid !== uid) obstacle = "Another user must answer.";
  item.append(obstacle ? el("p", { textContent: obstacle }) : promptForm(prompt, title.id));
  item.append(el("p", { className: "left quiet" }));
  return item;
}

function promptForm(prompt, titleID) {
  const answer = input => act(async () => {
    await call("POST", `/v1/prompts/${prompt.id}`, input);
  });
  const form = el("form", { "aria-labelledby": titleID });
  const row = el("div", { className: "row" });
  if (prompt.kind === "consent") {
    row.append(el("button", {
      type: "button", className: "primary", textContent: "Grant", onclick: answer({ grant: true }),
    }));
  } else if (prompt.kind === "choice") {
    const group = el("fieldset", {}, el("legend", { textContent: prompt.text, className: "unseen" }));
    for (const choice of prompt.choices ?? []) {
      const input = el("input", { type: "radio", name: "choice", value: choice, required: true });
      group.append(el("label", { className: "check" }, input, choice));
    }
    form.append(group);
    form.onsubmit = event => answer({ choice: new FormData(form).get("choice") })(event);
  } else {
    const digits = prompt.kind === "pin" || prompt.kind === "one-time-password";
    const input = el("input", {
      type: prompt.secret && prompt.kind !== "one-time-password" ? "password" : "text",
      required: true, maxLength: 1024, spellcheck: false, inputMode: digits ? "numeric" : "text",
      autocomplete: completions[prompt.kind] ?? "off",
    });
    form.append(el("label", {}, answerNames[prompt.kind] ?? "Answer", input));
    form.onsubmit = event => {
      const text = input.value;
      input.value = "";
      return answer({ text })(event);
    };
  }
  if (prompt.kind !== "consent") row.append(el("button", { className: "primary", textContent: "Answer" }));
  row.append(el("button", { type: "button", textContent: "Refuse", onclick: answer({ refuse: true }) }));
  for (const button of row.children) button.setAttribute("aria-describedby", titleID);
  form.append(row);
  return form;
}

const completions = { "password": "current-password", "one-time-password": "one-time-code" };
const answerNames = {
  "password": "Password", "pin": "PIN", "one-time-password": "One-time code", "lock-passcode": "Passcode",
  "vault-passcode": "Passcode of the store", "new-vault-passcode": "New passcode",
};
