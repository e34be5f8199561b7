"""What the lab has to refuse because no right client would ask that way (MPIN checklist 16 to 32)."""
import json

import mpin_curve as curve
from mpin_client import BASE, User, act, admin, ask, expect, settings


def refused(status, count, answer, why):
    """The answer has this status, and the lab remembers what was wrong."""
    known = admin("GET", "state")["mpin"]
    expect(answer.status == status, f"{why} is answered {status}, not {answer.status} {answer.body}")
    expect(known["violation_count"] == count[0] + 1, f"{why} is remembered: {known['violations'][-1:]}")
    count[0] += 1


def changed(body, **members):
    body = {**body, **members}
    return {name: value for name, value in body.items() if value is not ...}


def headers(user, count):
    url = BASE + "/rps/clientSettings"
    refused(400, count, ask("GET", url, headers={"Content-Type": "application/json"}), "a GET with a content type")
    refused(400, count, ask("GET", url, headers={"Accept": "text/plain"}), "a GET with Accept: text/plain")
    body = {"userId": "b", "mobile": 1}
    for name, value in (("Content-Type", "application/json"), ("Accept", "*/*")):
        refused(400, count, ask("PUT", user.settings["registerURL"], body, {name: value}), f"{name}: {value}")
    settings(headers={"X-Custom": "a b"}, client_id="client 1")
    refused(400, count, ask("GET", url), "a request without the custom header")
    custom = {"X-Custom": "a b"}
    expect(ask("GET", url, headers=custom).status == 200, "the client id may be set later")
    refused(400, count, ask("PUT", user.settings["registerURL"], body, custom), "a request without the client id")
    other = User("header@example.org", {**custom, "X-MIRACL-Client-ID": "client 1"}).enroll()
    expect(other.log_in().status == 200 and other.log_in(permit=other.permit(False)).status == 200,
           "with both, everything works")
    settings(headers={}, client_id=None)


def registration(user, count):
    body = {"userId": "b", "mobile": 1}
    for change in ({"mobile": "1"}, {"mobile": True}, {"mobile": 2}, {"mobile": ...}, {"userId": ""}, {"userId": 5},
                   {"deviceName": ""}, {"activateCode": ""}, {"regOTT": "ab"}, {"extra": 1}):
        refused(400, count, user.ask("PUT", user.settings["registerURL"], changed(body, **change)), f"{change}")
    refused(400, count, user.ask("PUT", user.settings["registerURL"], b"[1]"), "a list")
    user.register()
    path = f"{user.settings['registerURL']}/{user.id}"
    body = {"userId": user.name, "mobile": 1, "regOTT": user.reg_ott}
    for change in ({"regOTT": ...}, {"activateCode": "123456"}):
        refused(400, count, user.ask("PUT", path, changed(body, **change)), f"{change} at a restart")
    capitals = f"{user.settings['registerURL']}/{user.id.upper()}"
    refused(400, count, user.ask("PUT", capitals, body), "an M-Pin ID in capitals")
    expect(user.ask("PUT", path, changed(body, regOTT="00" * 16)).status == 400, "another regOTT is refused")
    act(user, "activate")
    url = f"{user.settings['signatureURL']}/{user.id}"
    refused(400, count, user.ask("GET", url), "a signature without regOTT")
    for query in "&pmiToken=", "&pmiToken=%zz&a", "&extra=1", f"&regOTT={user.reg_ott}":
        refused(400, count, user.ask("GET", f"{url}?regOTT={user.reg_ott}{query}"), query)
    user.first_share()
    params = user.share["params"]
    for text in params.replace("&hash_user_id=", ""), params + "&extra=1":
        refused(403, count, user.second_share(text), "params with other names")
    swapped = "&".join(reversed(params.split("&")))
    for text in swapped, params.replace("%3A", ":"):
        refused(403, count, user.second_share(text), "params in another form")
    refused(401, count, user.second_share(params[:-1] + ("0" if params[-1] != "0" else "1")), "another signature")
    admin("POST", "clock", {"advance_seconds": 61})
    expect(user.second_share().status == 408, "params end")
    lost = User("lost@example.org")
    lost.register()
    lost.reg_ott = "00" * 16
    expect(lost.first_share().status == 400 and lost.restart().status == 400, "a wrong regOTT ends a registration")


def passes(user, count):
    user = User().enroll()
    permit = user.permit()
    url = user.settings["mpinAuthServerURL"]
    point = curve.encode(user.point)
    body = {"pass": 1, "mpin_id": user.id, "UT": point, "U": point}
    off = point[:-1] + ("0" if point[-1] != "0" else "1")
    for change in ({"pass": "1"}, {"pass": 2}, {"pass": ...}, {"mpin_id": user.id.upper()}, {"UT": ""}, {"UT": ...},
                   {"U": point[:-2]}, {"U": point.upper()}, {"U": off}, {"U": "00"}, {"U": "02" + point[2:]},
                   {"mpin_id": 5}, {"extra": 1}):
        refused(403, count, user.ask("POST", url + "/pass1", changed(body, **change)), f"pass 1 with {change}")
    expect(user.ask("POST", url + "/pass1", changed(body, mpin_id="00")).status == 403, "an unknown user is refused")
    body = {"pass": 2, "OTP": False, "WID": "0", "V": point, "mpin_id": user.id}
    for change in ({"pass": 1}, {"OTP": 0}, {"OTP": "false"}, {"WID": 0}, {"WID": ""}, {"OTP": True, "WID": "1"},
                   {"V": point[:-2]}, {"V": ...}, {"extra": 1}):
        refused(403, count, user.ask("POST", url + "/pass2", changed(body, **change)), f"pass 2 with {change}")
    expect(user.ask("POST", url + "/pass2", body).status == 500, "there was no pass 1")
    first = {"pass": 1, "mpin_id": user.id, "UT": point, "U": point}
    expect(user.ask("POST", url + "/pass1", first).status == 200, "U is taken")
    refused(403, count, user.ask("POST", url + "/pass1", first), "a U that was sent before")
    y = user.commit(permit)["y"]
    expect(user.prove(y, "1234").status == 200 and user.prove(y, "1234").status == 500, "pass 1 serves one pass 2")
    for change in ({"lab": ...}, {"pass": "2"}, {"version": "0.4"}, {"more": 1}):
        reply = user.prove(user.commit(permit)["y"], "1234")
        body = {"mpinResponse": changed(json.loads(reply.body), **change)}
        refused(400, count, user.ask("POST", user.settings["authenticateURL"], body), f"a reply with {change}")
    reply = user.prove(user.commit(permit)["y"], "1234")
    body = {"mpinResponse": json.loads(reply.body), "extra": 1}
    refused(400, count, user.ask("POST", user.settings["authenticateURL"], body), "a second member beside it")
    for sent, asked in ("0", "1234567"), ("1234567", "0"):
        reply = user.prove(user.commit(permit)["y"], "1234", sent)
        refused(400, count, user.judged(reply, asked), "the verdict of the other sort")
    first = user.ask("GET", f"{user.settings['timePermitsURL']}/{user.id}")
    share = f"{user.settings['certivoxURL']}timePermit?hash_mpin_id={first['storageId']}&app_id="
    good = f"{share}{user.settings['appID']}&mobile=1&signature={first['signature']}"
    for text, status in ((good + "&a=1", 403), (good.replace("mobile=1", "mobile=0"), 403), (good[:-2], 401)):
        refused(status, count, user.ask("GET", text), "a permit that is asked for otherwise")
    refused(404, count, user.ask("GET", user.settings["timePermitsStorageURL"] + "/x/1/2"), "another path")


def rest(user, count):
    url = user.settings["codeStatusURL"]
    for body in ({"status": "wid"}, {"status": "wid", "wid": "1", "userId": "a"}, {"status": "other", "wid": "1"},
                 {"status": "user", "wid": "1"}, {"status": "wid", "wid": 1}):
        refused(400, count, user.ask("POST", url, body), f"{body}")
    expect(json.loads(user.ask("POST", url, {"status": "wid", "wid": "1"}).body) == {"Status": "OK"}, "an unknown code")
    refused(400, count, user.ask("POST", BASE + "/logout", {"userId": user.name}), "a log-out with something else")
    settings(code_status=False, leave_out=["usePermits"], settings_form="websocket")
    plain = json.loads(ask("GET", BASE + "/rps/clientSettings").body)
    expect("codeStatusURL" not in plain and "usePermits" not in plain, "settings can be left out")
    expect(plain["registerURL"].startswith("wss://") and User().settings["registerURL"] == BASE + "/rps/user",
           "addresses can be those of web sockets")
    settings(settings_form="absolute")
    expect(User().settings["registerURL"] == BASE + "/rps/user", "or absolute")
    expect(ask("POST", BASE + "/rps/clientSettings", {}).status == 405, "each address has its methods")


def forms():
    user, count = User(), [0]
    for part in headers, registration, passes, rest:
        part(user, count)
