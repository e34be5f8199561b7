"""Opens the lab's admin page in headless Chromium, as WebDriver (W3C) has it, and does what a person would.

    page.py URL layout WIDTH | link | removal MAG OTHER | messages MAG | mpin

Prints nothing and exits with 0 when all is well; else says what was seen.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Support"))
from browser import Browser, expect  # noqa: E402


def show(browser, url):
    browser.open(url)
    browser.until("document.querySelectorAll('#devices > li').length === 2 "
                  "&& document.querySelectorAll('#messages tr').length === 2")


def layout(url, width):
    width = int(width)
    with Browser(width) as browser:
        show(browser, url)
        expect(browser.ask("document.documentElement.scrollWidth <= innerWidth"), "the page is as wide as the screen")
        boxes = browser.ask("""[...document.querySelectorAll('button')].filter(b => b.offsetParent).map(b => {
            const box = b.getBoundingClientRect(); return [b.textContent, box.left, box.right]; })""")
        outside = [box for box in boxes if box[1] < 0 or box[2] > width]
        expect(not outside, f"each button is inside the screen, unlike {outside}")
        expect(len(boxes) > 20, f"buttons are there: {boxes}")
        choices = ["As alice", "As bob", "Refuse"]
        expect([text for text, *_ in boxes if text in choices] == choices, f"the login can be decided: {boxes}")
        top = "document.querySelector(arguments[0]).getBoundingClientRect().top"
        display = "getComputedStyle(document.querySelector('#logins tr')).display"
        if width < 600:
            expect(browser.ask(top, "#devices") < browser.ask(top, "#faults"), "devices come before faults")
            expect(browser.ask(display) == "block", "rows are cards")
            heads = browser.ask("""[...document.querySelectorAll('#logins td')]
                .map(data => getComputedStyle(data, '::before').content)""")
            expect('"Decide"' in heads and '"Ends"' in heads, f"values have their heads: {heads}")
            # A word of a topic may break anywhere; a payload of a few letters need not.
            expect(browser.ask("document.querySelector('#messages td:last-child').getBoundingClientRect().width") > 200,
                   "a payload has room")
        else:
            expect(browser.ask(top, "#devices") < browser.ask(top, "#fault"), "devices are at the top")
            expect(browser.ask(display) == "table-row", "rows are rows")
        words = browser.ask("[...document.querySelectorAll('[data-part^=broker]')].map(b => b.textContent)")
        expect(words == ["Stop", "Start", "Suspend", "Resume", "Kill"], f"the words are those of the command: {words}")


def link(url):
    address, token = url.split("#")
    with Browser(390) as browser:
        browser.open(address)
        browser.until("!document.getElementById('locked').hidden && document.getElementById('content').hidden")
        browser.open(address + "#wrong")
        browser.until("!document.getElementById('locked').hidden && document.getElementById('content').hidden")
        # Into the same tab.
        show(browser, url)
        expect(token not in browser.ask("location.href"), "the address is without the token")
        browser.call("POST", "/refresh")
        show(browser, address)
        expect(browser.ask("document.getElementById('locked').hidden"), "a reload needs no link")


def removal(url, mag, other):
    with Browser(1280) as browser:
        show(browser, url)
        names = browser.ask("""[...document.querySelectorAll('button')].filter(b => b.offsetParent)
            .map(b => b.getAttribute('aria-label') ?? b.textContent)""")
        twice = {name for name in names if names.count(name) > 1}
        expect(not twice, f"no two buttons have one name, unlike {twice}")
        button = """[...document.querySelectorAll('#devices button')]
            .find(b => b.textContent === 'Remove' && b.getAttribute('aria-label').includes(arguments[0]))"""
        browser.do(button + ".click()", mag[:8])
        browser.until("document.getElementById('question').open")
        question = browser.ask("document.getElementById('question').innerText")
        expect(mag[:8] in question, "the question says which device")
        expect(browser.ask("document.activeElement.id") == "question-no", "the harmless answer comes first")
        browser.press("\ue00c")  # Escape
        browser.until("!document.getElementById('question').open")
        devices = browser.ask("call('GET', 'state').then(state => state.devices.length)")
        expect(devices == 2, "nothing was removed")
        browser.do(button + ".click()", mag[:8])
        browser.until("document.getElementById('question').open")
        browser.do("document.getElementById('question-yes').click()")
        browser.until("document.querySelectorAll('#devices > li').length === 1 "
                      "&& document.getElementById('devices').innerText.includes(arguments[0])", other)


def messages(url, mag):
    with Browser(390) as browser:
        show(browser, url)
        expect(mag in browser.ask("document.getElementById('devices').innerText"), "whole identifiers are shown")
        # What a click copies, without the clipboard of the machine.
        browser.do("""Object.defineProperty(navigator, 'clipboard',
            { value: { writeText: async text => { window.copied = text; } } })""")
        copy = """[...document.querySelectorAll('#devices button')].find(b => b.textContent === 'Copy'
            && b.getAttribute('aria-label').startsWith('Copy mag-identifier of')
            && b.getAttribute('aria-label').includes(arguments[0]))"""
        browser.do(copy + ".focus()", mag[:8])
        browser.press("\ue007")  # Enter
        browser.until("window.copied === arguments[0]", mag)
        # The state is asked for after each action, and the cards are made anew.
        browser.do("document.querySelector('#devices > li').dataset.old = 'yes'; refresh()")
        browser.until("!document.querySelector('#devices > li').dataset.old")
        focused = browser.ask("document.activeElement.getAttribute('aria-label') ?? ''")
        expect(focused.startswith("Copy mag-identifier"), "the focus stays")
        browser.do("document.querySelector('#messages button').click()")
        whole = browser.ask("document.querySelector('#messages code').textContent")
        expect(len(whole) > 64 and "…" not in whole, f"the topic is shown whole: {whole}")
        browser.do("document.getElementById('hide-telemetry').click()")
        browser.until("document.querySelectorAll('#messages tr').length === 1 "
                      "&& document.getElementById('messages').innerText.includes('door')")
        browser.do("document.getElementById('pause').click()")
        expect(browser.ask("document.getElementById('pause').textContent") == "Resume", "a paused page can be resumed")
        events = browser.ask("document.querySelectorAll('#events tr').length")
        browser.do("document.getElementById('mint').click()")
        browser.until("!document.getElementById('ticket').hidden")
        browser.do("document.querySelector('#devices > li').dataset.old = 'yes'; refresh()")
        browser.until("!document.querySelector('#devices > li').dataset.old")
        expect(browser.ask("document.querySelectorAll('#events tr').length") == events, "a paused list stays")
        browser.do("document.getElementById('pause').click()")
        browser.until("document.querySelectorAll('#events tr').length > arguments[0]", events)


def mpin(url):
    with Browser(390) as browser:
        browser.open(url)
        browser.until("document.querySelectorAll('#mpin tr').length === 2")
        names = browser.ask("""[...document.querySelectorAll('#mpin button, #mpin input')]
            .map(b => b.getAttribute('aria-label'))""")
        expect(len(set(names)) == 12, f"each of two users has six controls with names of their own: {names}")
        expect(browser.ask("document.documentElement.scrollWidth <= innerWidth"), "the page is as wide as the screen")
        expect(browser.ask("document.getElementById('mpin-url').textContent").endswith("/mpin"), "the address is shown")
        row = "[...document.querySelectorAll('#mpin tr')].find(row => row.textContent.includes(arguments[0]))"
        button = f"[...{row}.querySelectorAll('button')].find(button => button.textContent === arguments[1])"

        def press(user, text):
            browser.do(button + ".click()", user, text)

        def shows(user, text):
            browser.until(row + "?.cells[1].textContent.includes(arguments[1])", user, text)

        code = browser.ask(row + ".cells[3].textContent", "alice@")
        shows("alice@", "not verified")
        browser.do(row + ".querySelector('input').focus()", "alice@")
        browser.type("99x")
        # The state is asked for after each action, and the rows are made anew.
        browser.do(row + ".dataset.old = 'yes'; refresh()", "alice@")
        browser.until("!" + row + ".dataset.old", "alice@")
        expect(browser.ask("document.activeElement.value") == "99x", "what is typed stays, with the focus")
        press("alice@", "Enter code")
        browser.until("document.getElementById('notice').textContent.includes('activation code')")
        shows("alice@", "not verified")
        browser.complaints()  # The refusal.
        browser.do(f"const input = {row}.querySelector('input'); input.value = ''; input.oninput(); input.focus()",
                   "alice@")
        browser.type(code)
        press("alice@", "Enter code")
        shows("alice@", "verified")
        browser.until("!" + row + ".querySelector('input')", "alice@")
        press("bob@", "Follow link")
        browser.until("!" + row + ".querySelector('input')", "bob@")
        for action, text in (("Block", "blocked"), ("Revoke", "revoked")):
            press("bob@", action)
            shows("bob@", text)
        expect("blocked" not in browser.ask(row + ".cells[1].textContent", "alice@"), "one user is not the other")
        press("bob@", "Unblock")
        browser.until("!" + row + ".cells[1].textContent.includes('blocked')", "bob@")
        press("bob@", "Remove")
        browser.until("document.getElementById('question').open")
        browser.press("\ue00c")  # Escape
        browser.until("!document.getElementById('question').open")
        press("bob@", "Remove")
        browser.until("document.getElementById('question').open")
        browser.do("document.getElementById('question-yes').click()")
        browser.until("document.querySelectorAll('#mpin tr').length === 1")
        browser.do("document.getElementById('mpin-number').click()")
        browser.until("/^[0-9]{7}$/.test(document.querySelector('#mpin-browsers code')?.textContent)")
        browser.do("document.getElementById('mpin-qr').click()")
        browser.until("document.getElementById('mpin-browsers').textContent.includes('/mpin#')")
        browser.until("document.getElementById('mpin-violations').textContent.includes('is missing')")
        browser.do("document.getElementById('fault').elements.kind.value = 'lie'; faultFields()")
        browser.do("""const fields = document.getElementById('fault').elements;
            fields.endpoint.value = 'M5'; fields.lie.value = 'off-curve'; fields.times.value = '2';
            document.getElementById('fault').requestSubmit()""")
        browser.until("document.getElementById('faults').textContent.includes('lie off-curve at M5, 2 more')")
        expect(browser.complaints() == [], "the browser finds nothing wrong")


JOBS = {"layout": layout, "link": link, "removal": removal, "messages": messages, "mpin": mpin}
JOBS[sys.argv[2]](sys.argv[1], *sys.argv[3:])
