// Every way to log in, and where browsers are led to at the end of one.
const accounts = new Map();  // By name.
const account = () => accounts.get($("account").value);
const accountPath = () => account() ? `/v1/accounts/${account().name}` : "/v1";

function offerAccounts(list) {
  accounts.clear();
  for (const account of list) accounts.set(account.name, account);
  const names = list.map(account => account.name);
  if (names.join() !== [...$("account").options].map(option => option.value).join()) {
    const chosen = $("account").value;
    $("account").replaceChildren(...names.map(name => el("option", { value: name, textContent: name })));
    if (accounts.has(chosen)) $("account").value = chosen;
    $("account-choice").hidden = names.length < 2;
  }
  showWays();
}

// An account at an OAuth server has the one way of its grant.
function showWays() {
  const grant = account()?.server?.grant;
  const offered = {
    "login": !grant || grant === "password", "by-qr": !grant && (account()?.isDefault ?? true),
    "by-provider": !grant, "by-page": !grant,
    "by-browser": grant === "authorization_code" || grant === "implicit", "by-code": grant === "device_code",
  };
  for (const [id, isOffered] of Object.entries(offered)) $(id).hidden = !isOffered;
  $("login").elements.password.required = grant === "password";
  const other = grant && !offered.login && !offered["by-browser"] && !offered["by-code"];
  $("no-way").hidden = !other;
  $("no-way").textContent = !other ? "" : grant === "saml2_bearer"
    ? "This account logs in by an assertion, which the command “latchkey login” takes."
    : "This account needs no login: it gets its tokens by itself.";
}
$("account").onchange = showWays;

// MARK: Steps

let logIn;
function clearStep() {
  for (const id of ["providers", "login-link", "qr", "login-answer"]) $(id).hidden = true;
  $("login-link").removeAttribute("href");
  $("qr").removeAttribute("src");
  $("login-answer").reset();
  $("login-text").textContent = "";
}

// Shows the steps of a log-in, in place of those of the one before, for as long as it lasts.
async function withSteps(work) {
  logIn?.abort();
  const own = logIn = new AbortController();
  const opener = document.activeElement;
  clearStep();
  $("login-step").hidden = false;
  try {
    await work(own.signal);
  } catch (error) {
    if (!own.signal.aborted) throw error;
  } finally {
    if (logIn === own) {
      if ($("login-step").contains(document.activeElement)) opener.focus();
      $("login-step").hidden = true;
      clearStep();
      logIn = undefined;
    }
  }
}

function showPicture(png, text) {
  $("qr").src = `data:image/png;base64,${png}`;
  $("qr").alt = text;
  $("qr").hidden = false;
}

// Only a web page: the address is a server's word.
function showLink(url, text) {
  if (!/^https?:\/\//i.test(url)) throw new Refusal({ message: "The login page has no web address." });
  $("login-link").href = url;
  $("login-link").textContent = `${text} (opens a new tab)`;
  $("login-link").hidden = false;
  $("login-link").focus();
}

const welcome = ({ userName }) => notice(`${userName ?? "The user"} is logged in.`, true);

function showStep(data) {
  const { png, attemptsLeft, fault, text, loggedIn, userCode, address, completeAddress, picture } = data;
  if (png) {
    showPicture(png, "QR code for a device that is logged in");
    $("login-text").textContent = "Scan it with a device that is logged in.";
  } else if (loggedIn) {
    welcome(data);
  } else if (userCode) {
    if (picture) showPicture(picture.png, "QR code of the login page, for a phone");
    $("login-text").textContent = `Open the page here or on a phone, and enter the code ${userCode}: ${address}`;
    showLink(completeAddress ?? address, "Open the login page");
  } else if (attemptsLeft !== undefined) {
    $("login-text").textContent = fault ?? `“${text}” is asked above, under “Waiting for you”.`;
    if (!fault) ownQuestion = data.id;
    refresh();
  } else if (text) {
    $("login-text").textContent = text;
  }
}

// A log-in that lasts for as long as its events are read.
const runLogIn = (path, input, take = event => showStep(event.data)) => withSteps(signal =>
  read("POST", path, input, signal, event => event && take(event)));

$("login").onsubmit = act(async () => {
  const { user: userName, password } = Object.fromEntries(new FormData($("login")));
  $("login").elements.password.value = "";
  if (password || account()?.server) {
    welcome(await call("POST", `${accountPath()}/login`, { userName, password }));
  } else {
    // What is typed until the question is there must not be read in the user's name.
    $("login").elements.user.blur();
    await runLogIn(`${accountPath()}/login/prompted`, { userName, answerers: "user" });
  }
});
$("by-qr").onclick = act(() => runLogIn("/v1/login/nearby", { by: "qr" }));
$("by-code").onclick = act(() => runLogIn(`${accountPath()}/login/device`, { picture: true }));
$("cancel-login").onclick = () => logIn?.abort();

// MARK: In a browser

$("by-page").onclick = act(() => withSteps(signal => browse(accountPath(), { page: true }, signal)));
$("by-browser").onclick = act(() => withSteps(signal => browse(accountPath(), {}, signal)));
$("by-provider").onclick = act(() => withSteps(async signal => {
  const path = accountPath();
  // The gateway lists its providers with each login that begins.
  const { id, providers } = await call("POST", `${path}/login/browser`, { list: true });
  await call("DELETE", `${path}/login/browser/${id}`);
  const names = providers.map(provider => provider.id);
  const provider = names.length === 1 ? names[0] : await chosen(names, signal);
  if (provider !== undefined) await browse(path, { provider, picture: true }, signal);
}));

function chosen(names, signal) {
  $("provider-choices").replaceChildren(
    el("legend", { textContent: "Provider" }),
    ...names.map(name => el("label", { className: "check" },
      el("input", { type: "radio", name: "provider", value: name, required: true }), name)));
  $("providers").hidden = false;
  $("providers").querySelector("input").focus();
  return new Promise(resolve => {
    signal.addEventListener("abort", () => resolve());
    $("providers").onsubmit = event => {
      event.preventDefault();
      const name = new FormData($("providers")).get("provider");
      $("providers").hidden = true;
      resolve(name);
    };
  });
}

// The browser ends at this console, on a phone that the gateway knows, or at an address that is entered.
async function browse(path, choice, signal) {
  const begun = await call("POST", `${path}/login/browser`, { ...choice, loopbackPort: Number(location.port) });
  const place = `${path}/login/browser/${begun.id}`;
  const channel = new BroadcastChannel("login");
  let offer, wake = () => {}, isOver = false;
  const take = given => { offer = given; wake(); };
  channel.onmessage = ({ data }) => {
    if (!data.answer) return;
    channel.postMessage({ said: "The board is finishing the login." });
    take({ answer: data.answer, isFromTab: true });
  };
  $("login-answer").onsubmit = event => {
    event.preventDefault();
    take({ answer: $("login-answer").elements.answer.value.trim() });
  };
  signal.addEventListener("abort", () => wake());
  try {
    const comesHere = begun.redirectUri?.startsWith(`${location.origin}/`);
    const ends = comesHere || begun.canPoll ? "This page then continues by itself."
      : "At the end, enter the browser's final address.";
    const phone = begun.canPoll && begun.picture;
    if (phone) showPicture(begun.picture.png, "QR code of the login page, for a phone");
    $("login-text").textContent = `Log in there${phone ? ", or on a phone that scans the code" : ""}. ${ends}`;
    $("login-answer").hidden = false;
    showLink(begun.url, choice.page ? "Open the gateway’s login page" : `Open the login page of ${begun.provider}`);
    while (!isOver) {
      if (!offer) {
        await new Promise(resolve => { wake = resolve; if (begun.canPoll) setTimeout(resolve, 3000); });
      }
      if (signal.aborted) break;
      const given = offer;
      offer = undefined;
      try {
        const user = await call("POST", place, given ? { answer: given.answer } : { poll: true });
        isOver = user.loggedIn;
        if (isOver) {
          welcome(user);
          channel.postMessage({ said: "You are logged in on the board. This tab can be closed." });
        }
      } catch (error) {
        const isOther = error.browserAnswer === "of-another-login";
        const said = isOther ? "This is the answer to another login." : error.message;
        if (given?.isFromTab) channel.postMessage({ said });
        if (!given || !error.browserAnswer) { isOver = true; throw error; }
        $("login-text").textContent = isOther ? `${said} This one still waits for its own.` : said;
      }
    }
  } finally {
    channel.close();
    // At the latest it is forgotten when others have begun.
    if (!isOver) call("DELETE", place).catch(() => {});
  }
}

// This tab is where a browser was led to: its address belongs to the console's page in another tab.
function land() {
  const channel = new BroadcastChannel("login");
  const answer = location.href;
  let isTaken = false;
  $("landing").hidden = false;
  live("login", "");
  channel.onmessage = ({ data }) => {
    if (!data.said) return;
    if (!isTaken) history.replaceState(null, "", "/");
    isTaken = true;
    $("landing-text").textContent = data.said;
  };
  channel.postMessage({ answer });
  setTimeout(() => {
    if (isTaken) return;
    $("landing-text").textContent = "No other tab is waiting for this login. To continue, enter "
      + "this tab’s address on the board’s page.";
  }, 5000);
  document.body.dataset.ready = "yes";
}
