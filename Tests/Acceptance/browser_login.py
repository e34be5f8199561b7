"""Logs in with headless Chromium at the address that `latchkey login --browser` shows, as a person does.

    browser_login.py ADDRESS USER

Exits with 0 when the browser was led to the command, which says that the page can be closed; else says what was seen.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Support"))
from browser import Browser, expect  # noqa: E402

ENTER, TAB = "\ue007", "\ue004"


def log_in(address, user):
    # People add the lab's authority to their browser, or pass over its warning.
    with Browser(1280, insecure=True) as browser:
        browser.open(address)
        browser.until("document.activeElement.id === 'username'")
        for text in [user, TAB, f"{user}-password", ENTER]:
            browser.type(text)
        browser.until("document.querySelector('button[value=grant]')")
        expect("Alice Archer" in browser.ask("document.body.innerText"), "the page says who allows it")
        browser.do("document.querySelector('button[value=grant]').focus()")
        browser.press(ENTER)
        browser.until("location.hostname === '127.0.0.1' && document.body.innerText.includes('can be closed')")


log_in(*sys.argv[1:])
