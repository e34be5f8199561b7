"""Opens the console's page in headless Chromium, and does what a person would.

    console.py ADDRESS look FOLDER | people | password LAB TOKEN | ways FOLDER | oauth SERVER FOLDER | lock | rights

`look`, `ways` and `oauth` write pictures at each width and in each color scheme into FOLDER; SERVER is that of
glewlwyd.py. Exits with 0 when all is well; else says what was seen. `people` prints a line when it is ready for the
next thing to be asked for.
"""
import base64
import html
import json
import pathlib
import re
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Support"))
from browser import Browser, expect  # noqa: E402

ENTER, TAB, DOWN = "\ue007", "\ue004", "\ue015"

# The least contrast of a text against the color behind it (WCAG 2.2, 1.4.3).
CONTRAST = """
    const channel = value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const parse = text => text.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
    const behind = element => {
        for (let at = element; at; at = at.parentElement) {
            const color = parse(getComputedStyle(at).backgroundColor);
            if (color.length === 3 || color[3] > 0) return color;
        }
        return [255, 255, 255];
    };
    return [...document.querySelectorAll('body *')].filter(element => element.checkVisibility()
        && [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim())).map(element => {
            const [one, other] = [light(parse(getComputedStyle(element).color)), light(behind(element))]
                .sort((a, b) => b - a);
            return [(one + 0.05) / (other + 0.05), element.id || element.tagName, element.textContent.slice(0, 40)];
        }).filter(([ratio]) => ratio < 4.5);
"""

BOXES = """[...document.querySelectorAll('button, input, select, summary, a')]
    .filter(e => e.checkVisibility() && !e.matches('.skip'))
    .map(e => {
        const box = e.getBoundingClientRect();
        return [e.id || e.textContent || e.name, box.left, box.right, box.height];
    })"""


def show(browser, address):
    browser.open(address)
    browser.until("document.body.dataset.ready === 'yes'")


def tree(browser):
    """What a screen reader is told: role, name and properties of each node."""
    nodes = browser.devtools("Accessibility.getFullAXTree")["nodes"]
    return [(node["role"]["value"], node.get("name", {}).get("value", ""),
             {p["name"]: p["value"].get("value") for p in node.get("properties", [])})
            for node in nodes if not node["ignored"]]


def accessible(browser):
    nodes = tree(browser)
    names = [(role, name) for role, name, _ in nodes]
    controls = {
        "button", "textbox", "link", "checkbox", "radio", "combobox", "searchbox", "image", "region", "form",
        "DisclosureTriangle"
    }
    nameless = [role for role, name in names if role in controls and not name.strip()]
    expect(not nameless, f"what can be used has a name, unlike {nameless}")
    for landmark in ["banner", "main"]:
        expect([role for role, _ in names].count(landmark) == 1, f"one {landmark}: {names}")
    regions = [name for role, name in names if role == "region"]
    for name in ["Waiting for you", "State", "Sensors", "Log-in", "Accounts", "Health"]:
        expect(any(region.startswith(name) for region in regions), f"a region {name}: {regions}")
    levels = [int(properties["level"]) for role, _, properties in nodes if role == "heading"]
    expect(levels.count(1) == 1 and all(after - before <= 1 for before, after in zip(levels, levels[1:])),
           f"headings are in order: {levels}")
    live = browser.ask("[...document.querySelectorAll('[role=status], [role=alert], [aria-live]')].map(e => e.id)")
    expect({"announcer", "live", "notice"} <= set(live), f"what changes is announced: {live}")
    twice = browser.ask(
        "[...document.querySelectorAll('[id]')].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i)")
    expect(not twice, f"identifiers are unique, unlike {twice}")


def focus_order(browser):
    """Tab leads to everything that can be used, in the order of the page, and shows where it is."""
    browser.do("document.querySelector('.skip').focus(); scrollTo(0, 0)")
    # Radio buttons of a group are one stop.
    wanted = browser.ask("""[...document.querySelectorAll('a, button, input, select, summary, [tabindex="0"]')]
        .filter(e => e.checkVisibility({ visibilityProperty: true }) && !e.disabled
            && !(e.type === 'radio'
                && e !== (e.form.querySelector(':checked') ?? e.form.querySelector('[type=radio]')))).length""")
    seen = [browser.ask("[...document.querySelectorAll('*')].indexOf(document.activeElement)")]
    for _ in range(wanted + 2):
        browser.press(TAB)
        # What was reached before ends the round.
        place, outline = browser.ask("""(() => { const e = document.activeElement;
            return [[...document.querySelectorAll('*')].indexOf(e), getComputedStyle(e).outlineStyle !== 'none'];
            })()""")
        if seen and place <= seen[-1]:
            break
        expect(outline, f"the focus is seen at {browser.ask('document.activeElement.outerHTML')[:200]}")
        seen.append(place)
    expect(len(seen) == wanted, f"Tab leads to {len(seen)} of {wanted}")


def fits(browser, folder, name):
    for width in [360, 768, 1920]:
        for scheme in ["light", "dark"]:
            browser.devtools("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                             mobile=width < 600)
            browser.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            browser.until("innerWidth === arguments[0]", width)
            place = f"{name} at {width} pixels, {scheme}"
            expect(browser.ask("document.documentElement.scrollWidth <= innerWidth"),
                   f"{place}: no wider than the screen")
            boxes = browser.ask(BOXES)
            outside = [box for box in boxes if box[1] < 0 or box[2] > width]
            expect(len(boxes) > 8 and not outside, f"{place}: inside the screen, unlike {outside}")
            low = browser.call("POST", "/execute/sync", script=CONTRAST, args=[])
            expect(not low, f"{place}: text is legible, unlike {low}")
            ground = browser.ask("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]")
            expect((ground > 128) == (scheme == "light"), f"{place}: the color scheme is followed: {ground}")
            picture = browser.devtools("Page.captureScreenshot", captureBeyondViewport=True)["data"]
            pathlib.Path(folder, f"{name}-{width}-{scheme}.png").write_bytes(base64.b64decode(picture))
        accessible(browser)
        focus_order(browser)


def look(address, folder):
    with Browser(1280) as browser:
        show(browser, address)
        browser.until(
            "document.querySelectorAll('#prompts > li').length === 2 && document.querySelectorAll('#sensors > "
            "li').length > 0&& document.querySelector('#sensors polyline').getAttribute('points')")
        browser.do(
            "for (const box of document.querySelectorAll('details')) box.open = true; "
            "document.getElementById('examine').click()"
        )
        browser.until(
            "document.querySelectorAll('#health > li').length > 5 && document.querySelectorAll('#logs > li').length > 5"
        )
        browser.devtools("Emulation.setScrollbarsHidden", hidden=True)
        fits(browser, folder, "console")
        complaints = browser.complaints()
        expect(not complaints, f"the browser has nothing to complain of: {complaints}")


def people(address):
    with Browser(1280) as browser:
        show(browser, address)
        # The log-in that waits at a terminal.
        browser.until("document.querySelector('#prompts input[type=password]')")
        expect(browser.ask("document.title").startswith("(1) "), "the title says that something waits")
        browser.do("document.querySelector('#prompts input').focus()")
        browser.type("not-hers")
        browser.press(ENTER)
        browser.until("document.querySelector('#prompts [role=alert]')")
        text = browser.ask("document.getElementById('prompts').innerText")
        expect("wrong" in text and "Attempts left" in text, f"the fault is said: {text}")
        expect(browser.ask("document.activeElement.matches('#prompts input')"), "the focus stays where the answer goes")
        browser.type("alice-password")
        browser.press(ENTER)
        browser.until(
            "!document.querySelector('#prompts > li') && "
            "document.getElementById('sessions').innerText.includes('alice')"
        )
        expect(
            browser.ask("document.activeElement.id") == "prompts-title",
            "the focus goes to where the next question comes")
        print("logged in", flush=True)

        # The consent that another board asks for.
        browser.until("document.getElementById('prompts').innerText.includes('the other board')")
        grant = "[...document.querySelectorAll('#prompts button')].find(b => b.textContent === 'Grant')"
        # The time left is counted down, and the question announced, a moment after it is there.
        browser.until("document.querySelector('#prompts .left').textContent.includes('in ')")
        browser.until("document.getElementById('announcer').textContent.startsWith('A question waits')")
        browser.do(grant + ".focus()")
        browser.press(ENTER)
        browser.until("!document.querySelector('#prompts > li')")

        # Out, and in again from the page itself.
        browser.do("[...document.querySelectorAll('#sessions button')].find(b => b.textContent === 'Log out').click()")
        browser.until("document.getElementById('sessions').innerText.includes('No user is logged in')")
        browser.do("document.querySelector('#login input').focus()")
        browser.type("alice")
        browser.press(ENTER)
        # The focus is where the answer goes, and what is typed before that is not read in the name.
        browser.until("document.activeElement.matches('#prompts input[type=password]')")
        expect(browser.ask("document.querySelector('#login [name=user]').value") == "alice", "the name is the name")
        browser.type("alice-password")
        browser.press(ENTER)
        browser.until("document.getElementById('sessions').innerText.includes('alice') "
                      "&& document.getElementById('login-step').hidden")
        # Both in one form.
        log_out(browser)
        browser.do("document.querySelector('#login [name=user]').focus()")
        browser.press(TAB)
        expect(browser.ask("document.activeElement.name") == "password", "the password follows the name")
        browser.type("alice-password")
        browser.press(ENTER)
        logged_in(browser, "alice")
        expect(browser.ask("document.getElementById('notice').textContent") == "alice is logged in.", "it is said")

        # A code to show to a device that is logged in, for as long as the person wants.
        browser.do("document.getElementById('by-qr').click()")
        browser.until("document.getElementById('qr').naturalWidth > 100")
        browser.do("document.getElementById('cancel-login').click()")
        browser.until(
            "document.getElementById('login-step').hidden && !document.getElementById('qr').hasAttribute('src')")

        # A message to oneself.
        browser.do("document.getElementById('messages-box').open = true")
        browser.until("document.getElementById('messages-note').textContent.includes('as they arrive')")
        browser.do(
            "document.querySelector('#publish [name=topic]').value = 'door'; document.querySelector('#publish "
            "[name=payload]').value = 'open <b>'"
        )
        browser.do("document.getElementById('publish').requestSubmit()")
        browser.until("document.querySelector('#messages li')?.innerText.includes('open <b>')")
        complaints = [text for text in browser.complaints() if "409" not in text]
        expect(not complaints, f"the browser has nothing to complain of: {complaints}")


def password(address, lab, token):
    """A program's call waits for a one-time password: chosen how, mistyped and typed on the page."""
    def sent():
        request = urllib.request.Request(f"{lab}/api/state", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=150) as answer:
            return json.load(answer)["one_time_passwords"][0]["password"]

    with Browser(1280) as browser:
        show(browser, address)
        browser.until("document.querySelectorAll('#prompts input[type=radio]').length === 3")
        text = browser.ask("document.getElementById('prompts').innerText")
        expect("How to send the one-time password" in text and "alice" in text, f"what is asked: {text}")
        browser.do("document.querySelector('#prompts input[value=SMS]').click()")
        browser.do("document.querySelector('#prompts form').requestSubmit()")
        field = "document.querySelector('#prompts input[autocomplete=one-time-code]')"
        browser.until(field)
        browser.do(field + ".focus()")
        browser.type("mistyped")
        browser.press(ENTER)
        browser.until("document.querySelector('#prompts [role=alert]')")
        text = browser.ask("document.getElementById('prompts').innerText")
        expect("wrong" in text and "2" in text, f"the fault and the attempts left are said: {text}")
        browser.do(field + ".focus()")
        browser.type(sent())
        browser.press(ENTER)
        browser.until("!document.querySelector('#prompts > li')")


def use(browser, identifier):
    """Presses a button as somebody does who has no pointer."""
    browser.do(f"document.getElementById('{identifier}').focus()")
    browser.press(ENTER)


def log_out(browser):
    browser.do("[...document.querySelectorAll('#sessions button')].find(b => b.textContent === 'Log out').click()")
    browser.until("document.getElementById('sessions').innerText.includes('No user is logged in')")


def logged_in(browser, user):
    browser.until(
        "document.getElementById('sessions').innerText.includes(arguments[0]) && "
        "document.getElementById('login-step').hidden",
        user)
    expect(browser.ask("document.getElementById('notice').textContent") == f"{user} is logged in.", "it is said")


def choose_provider(browser, name):
    use(browser, "by-provider")
    browser.until("document.activeElement.matches('#providers input')")
    names = browser.ask("[...document.querySelectorAll('#providers input')].map(i => i.value)")
    expect(names == ["facebook", "google", "salesforce", "linkedin", "enterprise"], f"what the gateway offers: {names}")
    for _ in range(names.index(name)):
        browser.press(DOWN)
    if name == names[0]:
        browser.press(" ")
    expect(
        browser.ask("new FormData(document.getElementById('providers')).get('provider')") == name, f"{name} is chosen")


def open_link(browser):
    """Follows the link, which has the focus. Returns the tab before."""
    browser.until("document.activeElement.id === 'login-link'")
    first, before = browser.call("GET", "/window"), browser.tabs()
    browser.press(ENTER)
    end = time.monotonic() + 150
    while len(browser.tabs()) == len(before) and time.monotonic() < end:
        time.sleep(0.05)
    browser.show_tab(next(tab for tab in browser.tabs() if tab not in before))
    return first


def at_the_lab(browser, user, shows):
    browser.until("document.readyState === 'complete' && document.getElementById('username')")
    expect(shows in browser.ask("document.body.innerText"),
           f"the page of {shows}: {browser.ask('document.body.innerText')[:300]}")
    browser.do(
        """document.getElementById('username').value = arguments[0];
        document.getElementById('password').value = arguments[0] + '-password';
        document.querySelector('button[value=login]').click()""", user)
    browser.until("document.querySelector('button[value=grant]')")
    browser.do("document.querySelector('button[value=grant]').click()")


def landed(browser, first, says):
    browser.until("document.getElementById('landing-text')?.textContent.includes(arguments[0])", says)
    browser.close_tab()
    browser.show_tab(first)


class Phone(urllib.request.HTTPRedirectHandler):
    """A browser elsewhere, which stops where it would leave the gateway."""

    def redirect_request(self, request, fp, code, message, headers, url):
        return super().redirect_request(request, fp, code, message, headers, url) if url.startswith("https:") else None

    def log_in(self, url, user):
        context = ssl._create_unverified_context()
        opener = urllib.request.build_opener(self, urllib.request.HTTPSHandler(context=context))
        form = None
        for step in [{}, {"username": user, "password": user + "-password", "action": "login"}, {"action": "grant"}]:
            data = urllib.parse.urlencode(form | step).encode() if form is not None else None
            try:
                with opener.open(url, data, timeout=150) as answer:
                    url, page = answer.url, answer.read().decode()
            except urllib.error.HTTPError as error:
                return error.headers["Location"]
            url = urllib.parse.urljoin(url, html.unescape(re.search(r'<form method="post" action="([^"]*)"', page)[1]))
            form = {
                name: html.unescape(value)
                for name, value in re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', page)
            }
        sys.exit("the phone's pages do not end")


def ways(address, folder):
    """By a provider and at the gateway's page, in another tab, on a phone, and by the address that another browser ends
    at."""
    origin = address.split("/#")[0]
    with Browser(1280, insecure=True) as browser:
        show(browser, address)
        choose_provider(browser, "google")
        fits(browser, folder, "providers")
        browser.do("document.querySelector('#providers input[value=google]').focus()")
        browser.press(ENTER)
        first = open_link(browser)
        at_the_lab(browser, "bob", "google")
        landed(browser, first, "logged in on the board")
        logged_in(browser, "bob")
        expect(browser.ask("document.activeElement.id") == "by-provider", "the focus is back where it was")
        log_out(browser)

        # Any page may lead a browser here: the answer to another login ends nothing.
        use(browser, "by-page")
        browser.until("document.activeElement.id === 'login-link'")
        first = browser.new_tab()
        browser.complaints()  # Of other pages.
        browser.open(f"{origin}/done?code=c&state=s")
        browser.until("document.getElementById('landing-text').textContent.includes('another')")
        expect(browser.ask("location.search === '' && document.getElementById('content').hidden"),
               "the address is gone, and nothing is shown")
        # The refusal is that of the page's own request, in the other tab.
        complaints = [text for text in browser.complaints() if "/login/browser/" not in text]
        expect(not complaints, f"the browser has nothing to complain of where it is led to: {complaints}")
        browser.close_tab()
        browser.show_tab(first)
        browser.until("document.getElementById('login-text').textContent.includes('another')")
        fits(browser, folder, "page")
        browser.do("document.getElementById('login-link').focus()")
        first = open_link(browser)
        at_the_lab(browser, "alice", "lab")
        landed(browser, first, "logged in on the board")
        logged_in(browser, "alice")
        log_out(browser)

        # A phone, of which the gateway knows.
        choose_provider(browser, "enterprise")
        browser.press(ENTER)
        browser.until("document.getElementById('qr').naturalWidth > 100")
        fits(browser, folder, "phone")
        Phone().log_in(browser.ask("document.getElementById('login-link').href"), "bob")
        logged_in(browser, "bob")
        log_out(browser)

        # Another browser, whose last address is entered.
        use(browser, "by-page")
        browser.until("document.activeElement.id === 'login-link'")
        end = Phone().log_in(browser.ask("document.getElementById('login-link').href"), "alice")
        for text in ["nonsense", end]:
            browser.do(
                "document.querySelector('#login-answer input').value = ''; document.querySelector('#login-answer "
                "input').focus()"
            )
            browser.type(text)
            browser.press(ENTER)
            if text != end:
                browser.until(
                    "document.getElementById('login-text').textContent.includes('cannot log in with that address')")
        logged_in(browser, "alice")
        log_out(browser)

        # Given up: nothing waits any more.
        use(browser, "by-page")
        browser.until("document.activeElement.id === 'login-link'")
        use(browser, "cancel-login")
        browser.until("document.getElementById('login-step').hidden && document.activeElement.id === 'by-page'")
        browser.new_tab()
        browser.open(f"{origin}/?state=s&code=c")
        browser.until("document.getElementById('landing-text').textContent.includes('No other tab')")
        expect(browser.ask("location.search !== ''"), "the address is still there")


def oauth(address, server, folder):
    """Accounts at glewlwyd: by a code, in a browser, by password, and one that needs nobody."""
    script = str(pathlib.Path(__file__).with_name("glewlwyd.py"))

    def serve(job, *arguments):
        return subprocess.run([sys.executable, "-B", script, job, server, *arguments], check=True, capture_output=True,
                              text=True).stdout.strip()

    def choose(account, *shown):
        browser.do(
            "const list = document.getElementById('account'); list.value = arguments[0]; list.dispatchEvent(new "
            "Event('change'))",
            account)
        found = browser.ask(
            "[...document.querySelectorAll('#login, #ways button')].filter(e => e.checkVisibility()).map(e => e.id)")
        expect(found == list(shown), f"what {account} is logged in by: {found}")

    with Browser(1280) as browser:
        show(browser, address)
        choose("cloud", "by-code")
        use(browser, "by-code")
        browser.until("document.getElementById('qr').naturalWidth > 100 && document.activeElement.id === 'login-link'")
        expect("enter the code" in browser.ask("document.getElementById('login-text').textContent"), "the code is said")
        fits(browser, folder, "code")
        serve("agree", browser.ask("document.getElementById('login-link').href"))
        browser.until(
            "document.getElementById('login-step').hidden && "
            "document.getElementById('notice').textContent.includes('is logged in')"
        )

        choose("web", "by-browser")
        use(browser, "by-browser")
        browser.until("document.activeElement.id === 'login-link'")
        link = browser.ask("document.getElementById('login-link').href")
        redirect = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)["redirect_uri"][0]
        expect(redirect == address.split("/#")[0] + "/callback", f"browsers end at the console: {redirect}")
        # This server compares all of it, also the port.
        serve("client", "code-board", json.dumps({"redirect_uri": [redirect]}))
        end = serve("agree", link)
        browser.do("document.getElementById('notice').textContent = ''")
        first = browser.new_tab()
        browser.open(end)
        landed(browser, first, "logged in on the board")
        browser.until(
            "document.getElementById('login-step').hidden && "
            "document.getElementById('notice').textContent.includes('is logged in')"
        )

        choose("secret", "login")
        browser.do(
            "document.getElementById('notice').textContent = ''; document.querySelector('#login [name=user]').focus()")
        browser.type("alice")
        browser.press(TAB)
        browser.type("alice-password")
        browser.press(ENTER)
        browser.until("document.getElementById('notice').textContent.includes('is logged in')")
        expect(browser.ask("document.querySelector('#login [name=password]').value") == "", "the password is not kept")
        choose("own")
        expect("needs no login" in browser.ask("document.getElementById('no-way').textContent"), "it is said")
        text = browser.ask("document.getElementById('accounts').innerText")
        expect(
            text.count("authorization code") == 1 and text.count("device code") == 1, f"the accounts are shown: {text}")
        expect(
            not browser.ask("[...document.querySelectorAll('#sessions button')].some(b => b.textContent === 'Lock')"),
            "nothing to lock")
        # Without a gateway there are no messages.
        complaints = [text for text in browser.complaints() if "/v1/messages" not in text]
        expect(not complaints, f"the browser has nothing to complain of: {complaints}")


def kinds(browser):
    """Each kind of question has the form that it needs, and sends what the daemon takes."""
    # What the daemon asks, which is nothing, does not come in between.
    browser.do("""window.sent = []; window.genuine = fetch; window.show = showPrompts; showPrompts = () => {};
        fetch = (path, request) => path.startsWith('/v1/prompts/')
            ? (sent.push([path, request.body]), Promise.resolve(new Response('{}')))
            : Promise.resolve(new Response('{"prompts":[],"warnings":[],"uptime":1}'));
        const question = (id, kind, more) => ({
            id, kind, text: 'Question ' + id, secret: true, answerers: 'operators', state: 'waiting',
            attemptsLeft: null, fault: null, secondsLeft: null, ...more });
        show([question(901, 'pin'), question(902, 'one-time-password'),
            question(903, 'knowledge-question', { secret: false }), question(904, 'lock-passcode'),
            question(905, 'choice', { choices: ['by mail', 'by <phone>'] }), question(906, 'consent'),
            question(907, 'password', { answerers: 'user', uid: 4294967294 }),
            question(908, 'password', { state: 'checking' })]);""")
    item = ("[...document.querySelectorAll('#prompts > li')]"
            ".find(li => li.querySelector('h3').textContent === 'Question ' + arguments[0])")
    for number, label, kind, mode, completion in [
            (901, "PIN", "password", "numeric", "off"), (902, "One-time code", "text", "numeric", "one-time-code"),
            (903, "Answer", "text", "text", "off"), (904, "Passcode", "password", "text", "off")]:
        found = browser.ask(
            "(li => { const i = li.querySelector('label input'); return [i.labels[0].textContent, i.type, "
            f"i.inputMode, i.autocomplete]; }})({item})",
            number)
        expect(found == [label, kind, mode, completion], f"the form of {number}: {found}")
        browser.do(
            f"const li = {item}; li.querySelector('input').value = 'x' + arguments[0]; "
            "li.querySelector('form').requestSubmit()",
            number)
    browser.do(f"const li = {item}; li.querySelectorAll('input')[1].click(); li.querySelector('form').requestSubmit()",
               905)
    browser.do(f"[...({item}).querySelectorAll('button')].find(b => b.textContent === 'Refuse').click()", 906)
    for number, text in [(907, "Another user must answer."), (908, "The answer is being checked.")]:
        shown = browser.ask(f"(li => [li.innerText, li.querySelector('form')])({item})", number)
        expect(text in shown[0] and shown[1] is None, f"{number} is not to be answered: {shown}")
    sent = browser.until("sent.length === 6 && sent")
    expect(
        sorted(sent) == [[f"/v1/prompts/{n}", f'{{"text":"x{n}"}}'] for n in range(901, 905)]
        + [["/v1/prompts/905", '{"choice":"by <phone>"}'], ["/v1/prompts/906", '{"refuse":true}']],
        f"what was sent: {sent}")
    browser.do("fetch = genuine; showPrompts = show; refresh()")


def gone(address):
    """The agent ends while somebody looks at its page."""
    with Browser(1280) as browser:
        show(browser, address)
        host = subprocess.run(["hostname"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        browser.until("document.title.startsWith(arguments[0])", host)
        expect(
            host in browser.ask("document.getElementById('board').textContent"), "the page says which board it is of"
        )
        print("shown", flush=True)
        browser.until("document.body.classList.contains('stale') && !document.getElementById('stale').hidden")
        text = browser.ask("document.getElementById('stale').textContent")
        expect("latchkey console" in text and "has not answered since" in text, f"the way on is said: {text}")
        expect(browser.ask("document.getElementById('live').textContent") != "live", "nothing is said to be live")


def lock(address):
    base, token = address.split("#")
    with Browser(768) as browser:
        browser.open(base)
        browser.until("!document.getElementById('locked').hidden && document.getElementById('content').hidden")
        browser.open(address)
        browser.until("document.body.dataset.ready === 'yes'")
        expect(token not in browser.ask("location.href") and browser.ask("document.cookie") == "",
               "no script sees token or cookie")
        browser.call("POST", "/refresh")
        browser.until("document.body.dataset.ready === 'yes'")
        # Another origin of this host has the cookie and not the key.
        answer = browser.call("POST", "/execute/async", args=[], script="""fetch('/v1/status').then(a => a.json())
            .then(answer => arguments[0](answer.error.code))""")
        expect(answer == "local-api.console-session-missing", f"the cookie alone is refused: {answer}")
        # In a tab that nobody sees there is no stream, and the page asks for nothing.
        hide = "Object.defineProperty(document, 'hidden', { value: arguments[0], configurable: true });" \
               "document.dispatchEvent(new Event('visibilitychange'))"
        browser.do(hide, True)
        expect(browser.ask("Object.values(streams).every(stream => !stream.stop)"), "no stream is open")
        browser.do("document.getElementById('live').textContent = ''")
        browser.do(hide, False)
        browser.until(
            "document.getElementById('live').textContent === 'live' && streams.events.stop && streams.sensors.stop")
        kinds(browser)
        browser.do("document.getElementById('end').click()")
        browser.until("!document.getElementById('locked').hidden")


def rights(address):
    with Browser(1280) as browser:
        show(browser, address)
        browser.until("document.querySelector('#prompts > li')")
        text = browser.ask("document.getElementById('prompts').innerText")
        expect("right to operate" in text and not browser.ask("document.querySelector('#prompts form')"),
               f"no form: {text}")
        expect(browser.ask("document.getElementById('people').hidden && document.getElementById('publish').hidden"),
               "nothing to act with")
        code = browser.call(
            "POST", "/execute/async", args=[], script="""
            const done = arguments[0];
            call('POST', '/v1/prompts/' + [...asked.keys()][0], { text: 'alice-password' })
                .then(() => done('answered'), e => done(e.code))""")
        expect(code == "local-api.access-denied", f"an answer is refused: {code}")
        code = browser.call("POST", "/execute/async", args=[], script="""
            const done = arguments[0]; call('POST', '/v1/console', {}).then(() => done('opened'), e => done(e.code))""")
        expect(code == "local-api.method-not-allowed", f"a page opens no further session: {code}")


JOBS = {
    "look": look, "people": people, "password": password, "ways": ways, "oauth": oauth, "lock": lock, "gone": gone,
    "rights": rights,
}
JOBS[sys.argv[2]](sys.argv[1], *sys.argv[3:])
