"""Registers two M-Pin users on the console's page and logs them in, as a person would.

    mpin_console.py ADDRESS FOLDER LAB TOKEN

LAB is the lab's administration, which verifies the users. Writes a picture into FOLDER. Exits with 0 when all is well.
"""
import base64
import pathlib
import sys
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Support"))
from browser import Browser, expect  # noqa: E402

ENTER = "\ue007"
PINS = {"alice@lab.example": "90417263", "bob@lab.example": "open, please"}
FIELD = "document.querySelector('#prompts input[type=password]')"


def press(browser, text, user):
    button = ("[...document.querySelectorAll('#mpin button')]"
              f".find(b => b.getAttribute('aria-label') === '{text}: {user} at door')")
    browser.until(button)
    browser.do(f"({button}).click()")


def answer(browser, question, text):
    browser.until(f"document.getElementById('prompts').innerText.includes('{question}') && {FIELD}")
    browser.do(f"{FIELD}.focus()")
    browser.type(text)
    browser.press(ENTER)


def shows(browser, text):
    browser.until(f"document.getElementById('notice').textContent.includes('{text}')")


def verify(lab, token, user):
    request = urllib.request.Request(
        f"{lab}/api/mpin/users/{urllib.parse.quote(user, safe='')}/activate", b"{}",
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=150):
        pass


def main(address, folder, lab, token):
    with Browser(1280) as browser:
        browser.open(address)
        browser.until("document.body.dataset.ready === 'yes' && !document.getElementById('mpin-box').hidden")
        browser.do("document.getElementById('mpin-new').open = true")
        for user, pin in PINS.items():
            browser.do("document.querySelector('#mpin-make input').focus()")
            browser.type(user)
            browser.press(ENTER)
            # The back end asks for it; it may be left empty.
            browser.until("document.activeElement.name === 'deviceName'")
            if user.startswith("alice"):
                browser.type("front door")
            browser.press(ENTER)
            browser.until(f"document.getElementById('mpin').innerText.includes('{user}')")
            advice = browser.until("document.getElementById('mpin-advice').innerText")
            expect("6,331" in advice and "100 bits" in advice, f"what a PIN is worth is said: {advice}")
            # The user is there once it was made, and its buttons change once the back end knows it.
            browser.until(
                "[...document.querySelectorAll('#mpin button')].some(b => b.getAttribute('aria-label') === "
                f"'Confirm: {user} at door')"
            )
            verify(lab, token, user)
            press(browser, "Confirm", user)
            press(browser, "Choose PIN", user)
            answer(browser, f"New PIN of {user}", pin)
            answer(browser, "The same PIN again", pin)
            shows(browser, f"{user} is registered")
        for user, pin in PINS.items():
            press(browser, "Log in", user)
            answer(browser, f"PIN of {user}", "not this one")
            browser.until("document.querySelector('#prompts [role=alert]')?.textContent === 'the PIN is wrong'")
            if user.startswith("bob"):
                browser.devtools("Emulation.setScrollbarsHidden", hidden=True)
                picture = browser.devtools("Page.captureScreenshot", captureBeyondViewport=True)["data"]
                pathlib.Path(folder, "console-mpin.png").write_bytes(base64.b64decode(picture))
            answer(browser, f"PIN of {user}", pin)
            shows(browser, f"{user} is logged in by M-Pin")
        expect(
            browser.ask("document.getElementById('sessions').innerText").count("@") == 0,
            "they have no session on the board")
        # A board that is enrolled nowhere has no messages.
        complaints = [text for text in browser.complaints() if "/v1/messages" not in text]
        expect(not complaints, f"the browser has nothing to complain of: {complaints}")


main(*sys.argv[1:])
