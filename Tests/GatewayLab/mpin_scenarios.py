"""What the lab's M-Pin back end has to do, seen by the client in mpin_client.py.

    mpin_scenarios.py BASE_URL CA_FILE ADMIN_URL ADMIN_TOKEN SCENARIO [FILE]

Prints nothing and exits with 0 when all is well; else says what was seen.
"""
import json
import sys
import threading
import time
import urllib.parse

import mpin_curve as curve
from mpin_client import BASE, User, act, admin, ask, clean, expect, fault, master, settings, shown, signature
from mpin_forms import forms


def registration():
    user = User(deviceName="board", userData="data ä")
    expect(user.register().status == 200 and not user.is_active, "a new user is not active")
    held = json.loads(bytes.fromhex(user.id))
    expect(held["userID"] == user.name and held["mobile"] == 1, f"the M-Pin ID names the user: {held}")
    expect(user.first_share().status == 401, "without verification there is no secret")
    identifier, proof = user.id, user.reg_ott
    expect(user.restart().status == 200 and (user.id, user.reg_ott) == (identifier, proof), "a restart changes nothing")
    code = shown(user)["activation_code"]
    expect(len(code) == 6 and shown(user)["device_name"] == "board" and shown(user)["user_data"] == "data ä",
           "the page shows the code of the mail")
    act(user, "activate", code=code)
    expect(user.first_share("&pmiToken=a%2Fb%20c").status == 200, "share 1 is given")
    expect(shown(user)["push_token"] == "a/b c", "the push token has arrived")
    query = dict(urllib.parse.parse_qsl(user.share["params"], keep_blank_values=True))
    expect(query["hash_mpin_id"] == user.hash.hex() and query["hash_user_id"] == "", "params are about the user")
    one, two = master()
    expect(curve.decode(user.share["clientSecretShare"]) == curve.times(one, user.point), "share 1 is s1 A")
    second = user.second_share()
    expect(curve.decode(second["clientSecret"]) == curve.times(two, user.point), "share 2 is s2 A")
    user.finish(second)
    expect(user.first_share().status == 400, "a registration ends with its secret")
    signed = signature("clientSecret", query["app_id"], query["hash_mpin_id"], query["expires"])
    expect(query["signature"] == signed, "params are signed")
    late = User("link@example.org")
    late.register()
    link = f"{BASE}/rps/user/{late.id}"
    expect(ask("POST", link, {"activateKey": signature(late.id, "other")}).status == 401, "another key is refused")
    expect(ask("POST", link, {"activateKey": signature(late.id, late.reg_ott)}).status == 200, "the key activates")
    expect(late.first_share().status == 200, "so there is a secret")
    settings(activation="forced")
    expect(User("bob@example.org").register()["active"], "with forced activation a user is active at once")
    settings(activation="code")
    code = admin("POST", "mpin/codes", {"user": "carol@example.org"})["code"]
    expect(User("carol@example.org", activateCode="0").register().status == 403, "another code is refused")
    expect(User("carol@example.org", activateCode=code).register()["active"], "a code that was given before activates")
    expect(User("carol@example.org", activateCode=code).register().status == 403, "it works once")
    settings(refused_users=["dora@example.org"])
    expect(User("dora@example.org").register().status == 403, "who is refused cannot register")
    late = User("emil@example.org")
    late.register()
    act(late, "activate")
    admin("POST", "clock", {"advance_seconds": 3601})
    identifier = late.id
    expect(late.restart().status == 200 and late.id != identifier, "an expired registration gets another M-Pin ID")
    clean()


def log_in():
    user = User().enroll()
    expect(user.log_in("1234").status == 200, "the right PIN is taken")
    s = sum(master())
    expect(curve.accepts(user.validator, curve.decode(user.sent), user.y, user.base, s), "the pairing says so, too")
    expect(shown(user)["last_login"], "the page shows the log-in")
    expect(user.judged(user.reply).status == 408, "a verdict is given once")
    expect(user.log_in("1234", permit=user.permit(from_storage=False)).status == 200, "D-TA 2 gives the same permit")
    expect(user.log_in("1235").status == 401, "a wrong PIN is refused")
    expect(not curve.accepts(user.validator, curve.decode(user.sent), user.y, user.base, s), "by the pairing, too")
    expect(user.log_in("1235").status == 401 and shown(user)["failures"] == 2, "a second time")
    expect(user.log_in("1234").status == 200 and shown(user)["failures"] == 0, "the right PIN resets the counter")
    expect([user.log_in("9999").status for _ in range(3)] == [401, 401, 410], "the third failure blocks")
    expect(user.log_in("1234").status == 410 and shown(user)["blocked"], "then the right PIN is refused, too")
    act(user, "unblock")
    expect(user.log_in("1234").status == 200, "an administrator can undo that")
    settings(limit=1)
    expect(user.log_in("9999").status == 410, "the limit can be changed")
    clean()


def permits():
    user = User().enroll()
    today = user.permit()
    expect(user.log_in(permit=today).status == 200, "with today's permit")
    one, two = master()
    dated = curve.point_of(curve.digest(user.hash, today[0]))
    expect(today[1] == curve.times(one + two, dated), "a permit is s T")
    left = 86_400 - time.time() % 86_400
    admin("POST", "clock", {"advance_seconds": int(left) + 10})
    expect(user.log_in(permit=today).status == 200, "yesterday's permit is taken in the first hour")
    admin("POST", "clock", {"advance_seconds": 3700})
    expect(user.log_in(permit=today).status == 401, "then it is refused")
    tomorrow = user.permit()
    expect(tomorrow[0] == today[0] + 1 and user.log_in(permit=tomorrow).status == 200, "the day's own is taken")
    for status in 410, 403, 401:
        settings(revocation_status=status)
        act(user, "revoke")
        expect(user.permit().status == status, "who is revoked gets no permit")
        expect(user.ask("GET", "/".join([user.settings["timePermitsStorageURL"], user.settings["appID"],
                                         str(tomorrow[0]), user.hash.hex()])).status == 404, "nor from the storage")
        act(user, "restore")
    clean()
    settings(permit_storage=False)
    expect(User().settings["timePermitsStorageURL"] == "", "the storage can be switched off")
    settings(use_permits=False)
    user.settings["usePermits"] = False
    expect(user.log_in().status == 200, "without permits, U alone counts")
    expect(curve.accepts(user.validator, curve.decode(user.sent), user.y, user.base, one + two), "by the pairing, too")
    expect(user.log_in("4321").status == 401, "and the PIN")
    clean()
    expect(user.commit(today).status == 403, "a UT is refused then")
    expect(user.ask("GET", f"{user.settings['timePermitsURL']}/{user.id}").status == 400, "as is asking for a permit")


def password():
    user = User().enroll()
    answer = user.log_in(otp=True)
    expect(answer.status == 200 and user.reply["OTP"].isdigit() and len(user.reply["OTP"]) == 6, "there is a password")
    expect(shown(user)["one_time_password"] == user.reply["OTP"], "the page shows it")
    expect(answer["expireTime"] - answer["nowTime"] == 60_000 and answer["ttlSeconds"] == 60, "its times are right")
    expect(len(user.log_in()["code"]) == 32, "a log-in without it has a code of authorization")
    expect("OTP" not in json.loads(user.reply.body), "and no password")
    settings(refused_logins=[user.name])
    expect(user.log_in().status == 403, "the relying party can refuse")
    settings(refused_logins=[])
    act(user, "expire")
    expect(user.log_in().status == 409, "a secret can expire")
    act(user, "restore")
    first = user.commit(user.permit())
    admin("POST", "clock", {"advance_seconds": 16})
    expect(user.prove(first["y"], "1234").status == 500, "pass 1 lives for 15 seconds")
    reply = user.prove(user.commit(user.permit())["y"], "1234")
    admin("POST", "clock", {"advance_seconds": 61})
    expect(user.judged(reply).status == 408, "pass 2 lives for 60 seconds")
    clean()


def numbers():
    user = User().enroll()

    def browser(name="getAccessNumber"):
        answer = ask("POST", f"{BASE}/rps/{name}", {})
        expect(answer.status == 200, "a browser gets a session")
        return json.loads(answer.body)

    def poll(session):
        return ask("POST", f"{BASE}/rps/access", {"webOTT": session["webOTT"]})

    for _ in range(20):
        digits = [int(digit) for digit in browser()["accessNumber"]]
        total = sum(weight * digit for weight, digit in zip(range(7, 1, -1), digits))
        expect(len(digits) == 7 and digits[6] == (11 - total % 11) % 11 % 10 != 0, f"{digits} has its check digit")
    session = browser()
    number = session["accessNumber"]
    expect(poll(session)["status"] == "new", "the session is new")
    details = user.ask("POST", user.settings["codeStatusURL"], {"status": "wid", "wid": number})
    expect(details["appName"] == "Latchkey lab" and poll(session)["status"] == "wid", "a client asks for its details")
    user.ask("POST", user.settings["codeStatusURL"], {"status": "user", "wid": number, "userId": user.name})
    expect((poll(session)["status"], poll(session)["userId"]) == ("user", user.name), "a client names its user")
    expect(user.log_in("4321", session=number).status == 401, "a wrong PIN is refused")
    expect(ask("POST", f"{BASE}/rps/accessnumber", {"webOTT": session["webOTT"]}).status == 401, "no user is logged in")
    answer = user.log_in(session=number)
    expect(answer.status == 200 and poll(session)["status"] == "authenticate", "the right one logs the browser in")
    older = ask("POST", f"{BASE}/rps/accessnumber", {"webOTT": session["webOTT"]})
    expect(older["authOTT"] == poll(session)["authOTT"], "the older way of polling agrees")
    proof = {"mpinResponse": {"authOTT": poll(session)["authOTT"]}}
    expect(ask("POST", BASE + "/mpinAuthenticate", proof)["userId"] == user.name, "the browser is somebody")
    expect(user.ask("POST", BASE + answer["logoutURL"], answer["logoutData"]).status == 200, "the client logs out")
    expect(user.log_in(session=number).status == 412, "a number works once")
    expect(user.log_in(session="1234567").status == 412, "an unknown number is refused")
    late = browser()
    admin("POST", "clock", {"advance_seconds": 306})
    expect(poll(late)["status"] == "expired" and user.log_in(session=late["accessNumber"]).status == 412, "numbers end")
    code = browser("getQrUrl")["qrUrl"].split("#")
    service = ask("GET", code[0] + "/service")
    expect(service["url"] == BASE and service["type"] == "online", "the QR code's address has the details")
    expect(len(code[1]) == 32 and user.log_in(session=code[1]).status == 200, "its code logs in")
    settings(logout="text", upper_case_details=True, number_digits=6, waits_for_browser=True, browser_patience=60)
    waiting = browser()
    expect(len(waiting["accessNumber"]) == 6, "numbers may have six digits")
    details = user.ask("POST", user.settings["codeStatusURL"], {"status": "wid", "wid": waiting["accessNumber"]})
    expect(details["PrerollId"], "details may be spelled with capitals")

    def come():
        # All that a browser can do is to poll (MPIN 5.11).
        end = time.monotonic() + 150
        while poll(waiting)["status"] != "authenticate":
            expect(time.monotonic() < end, "the browser learns of the client")
            time.sleep(0.02)
        ask("POST", BASE + "/mpinAuthenticate", {"mpinResponse": {"authOTT": poll(waiting)["authOTT"]}})

    visitor = threading.Thread(target=come, daemon=True)
    visitor.start()
    answer = user.log_in(session=waiting["accessNumber"])
    visitor.join()
    expect(answer.status == 200 and isinstance(answer["logoutData"], str), "the client waits for the browser")
    settings(browser_patience=1)
    expect(user.log_in(session=browser()["accessNumber"]).status == 408, "but not for good")
    clean()


def lies():
    user = User()
    one, two = master()
    for lie in "other-user", "other-secret", "opposite":
        expect(user.register().status == 200, "registered")
        act(user, "activate")
        fault("M4", lie)
        user.first_share()
        first = curve.decode(user.share["clientSecretShare"])
        expect(first != curve.times(one, user.point), f"share 1 with {lie} is wrong")
        expect((user.hash.hex() in user.share["params"]) == (lie != "other-user"), "params say for whom")
        expect((curve.add(first, curve.times(two, user.point)) is None) == (lie == "opposite"), "an opposite share")
        fault("M5", lie)
        second = curve.decode(user.second_share(user.share["params"])["clientSecret"])
        expect(second != curve.times(two, user.point), f"share 2 with {lie} is wrong")
        second = curve.decode(user.second_share()["clientSecret"])
        expect((second == curve.times(two, user.point)) == (lie != "other-user"), "a lie is told as often as wanted")
    user.enroll()
    wrong = {"short": 128, "long": 132, "off-curve": 130, "infinity": 2, "compressed": 66, "not-hex": 130, "empty": 0}
    for endpoint in "M6", "M8":
        for lie, length in wrong.items():
            fault(endpoint, lie)
            first = user.ask("GET", f"{user.settings['timePermitsURL']}/{user.id}")
            answer = first if endpoint == "M6" else user.ask(
                "GET", f"{user.settings['certivoxURL']}timePermit?hash_mpin_id={first['storageId']}"
                f"&app_id={user.settings['appID']}&mobile=1&signature={first['signature']}")
            expect(len(answer["timePermit"]) == length, f"{lie} at {endpoint}: {answer['timePermit']}")
            if lie in ("off-curve", "not-hex"):
                try:
                    curve.decode(answer["timePermit"])
                    expect(False, f"{lie} is no point")
                except (AssertionError, ValueError):
                    pass
    permit = user.permit()
    fault("M9", "unreduced")
    large = user.commit(permit)
    expect(int(large["y"], 16) >= curve.N and user.judged(user.prove(large["y"], "1234")).status == 200, "y is reduced")
    for lie, body in (("not-json", b"<"), ("not-object", b"["), ("blank", b" ")):
        fault("M9", lie)
        expect(user.commit(permit).body[:1] == body, f"{lie} is not an object")
    for lie in "missing", "wrong-type":
        fault("M9", lie)
        expect(json.loads(user.commit(permit).body).get("y") == (None if lie == "missing" else 7), lie)
    clean()


def before():
    """Leaves a user in FILE, for a lab that is started again."""
    user = User().enroll()
    expect(user.log_in("4321").status == 401, "a failure is counted")
    with open(sys.argv[6], "w", encoding="utf-8") as file:
        json.dump({"id": user.id, "token": curve.encode(user.token)}, file)


def page():
    """Two users who are not verified, and a request that is wrong, for the lab's page."""
    for name in "alice@example.org", "bob@example.org":
        user = User(name)
        expect(user.register().status == 200, "registered")
    expect(user.ask("PUT", user.settings["registerURL"], {"userId": "b"}).status == 400, "refused")


def after():
    with open(sys.argv[6], encoding="utf-8") as file:
        held = json.load(file)
    user = User()
    user.id, user.token = held["id"], curve.decode(held["token"])
    user.hash = curve.digest(bytes.fromhex(user.id))
    user.point = curve.point_of(user.hash)
    expect(shown(user)["failures"] == 1, "a failure is remembered")
    expect(user.log_in().status == 200, "the user is, too")


SCENARIOS = (registration, log_in, permits, password, numbers, lies, forms, before, after, page)
if sys.argv[5] != password.__name__:
    # That one alone is about the seconds between the passes, which a busy machine may take for itself.
    settings(pass_life=3600, verdict_life=3600)
{scenario.__name__: scenario for scenario in SCENARIOS}[sys.argv[5]]()
