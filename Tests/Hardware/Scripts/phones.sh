# Read by phone.sh: gives orders to phones, and waits for what they and the agent do.
# shellcheck shell=sh source-path=SCRIPTDIR source=steps.sh
. "${0%/*}/steps.sh"
TRANSPORT=${TRANSPORT:?kernel or bluez}
PHONE=${PHONE:?the folder of phone.py}
gateway=https://localhost:8443
# How phones leave early.
settled=
[ "$TRANSPORT" = kernel ] || settled=--settled

# Notes what a subcommand prints and its exit status.
ask() {
    "$LATCHKEY" "$@" --json >> "$log" 2>&1
    observe "$1" $?
}
# Runs the program that phones are forks of, which takes long to load.
start_phones() {
    mkfifo /run/phones
    /usr/bin/python3 -S "$PHONE/phones.py" /run/phones >> "$log" 2>> /run/phone.err &
}
# Runs a phone: its role, its kind, the controller, its FIFO.
start_phone() { start_fork phone.py "$1" --kind "$2" --adapter "$3" --orders "$4" --patience 60; }
# Runs a program of phones, once they are loaded: its options but those of the service.
start_fork() {
    echo "$* --service 980c2f36-bde3-11e4-8dfc-aa07a5b093db" \
        "--characteristic 980c34cc-bde3-11e4-8dfc-aa07a5b093db" > /run/phones &
}
# Waits until the phone can be ordered about: a pattern for what it notes then.
await_phone() { given 'a phone on the virtual radio' await_line "$log" 1 "$1"; }
# Begins so many log-ins that wait for somebody to authorize them.
take_urls() {
    client=$(administer state | sed 's/.*"clients":\["\([^"]*\)".*/\1/')
    begin="$gateway/auth/oauth/v2/authorize?client_id=$client&response_type=code&display=social_login&scope=openid"
    # shellcheck disable=SC2046 # one word each
    curl -sSk $(yes "$begin" | head -n "$1") | grep -o "$gateway/auth/device/authorization/[0-9a-f]*\"" |
        tr -d '"' > /run/urls
}
# The next log-in that waits for somebody to authorize it.
next_url() {
    taken=$((${taken:-0} + 1))
    url=$(sed -n "${taken}p" /run/urls)
}
# The central makes exchanges with the URL: its options.
order() {
    echo "{\"event\":\"ordered\",\"url\":\"$url\",\"ms\":$(milliseconds)}" >> "$log"
    echo "--url $url $settled $*" > /run/orders
}
# How many lines of a pattern the log has since the beginning of the step.
logged() { tail -n "+$((seen + 1))" "$log" | grep -c -- "$1"; }
# Waits until the phone has ended so many exchanges and is gone for the agent too.
# shellcheck disable=SC2120 # phone.sh passes it
await_end() {
    await '"phone":"central","event":"ended"' && until_true "the end of ${1:-1}" has_ended "${1:-1}"
}
has_ended() {
    [ "$(logged '"phone":"central","event":"ended"')" -ge "$1" ] &&
        [ "$(logged '"proximity.central-connected"')" -eq "$(logged '"proximity.central-disconnected"')" ]
}
# Waits until the phone has been told, and is gone.
# shellcheck disable=SC2119
await_answer() { await '"proximity.session-\(not-\)*notified"' && await_end; }
# Waits until somebody is asked.
await_question() {
    await '"proximity.consent-asked"'
    question=$(tail -n "+$((seen + 1))" "$log" | grep '"proximity.consent-asked"' |
        sed -n '$s/.*"id":\([0-9]*\).*/\1/p')
}
# Answers the question: true or false.
answer() {
    curl -sS --unix-socket "$LATCHKEY_SOCKET" --json "{\"grant\":$1}" "http://latchkey/v1/proximity/consents/$question"
}
grant() { answer true > /run/grant.out; }
# Somebody is asked, and gives consent.
let_in() { await_question && grant; }
# A short press. A process of its own for each edge would make it a long one where the machine is busy.
press() {
    # Only while one asks alone; the one before has just had its answer.
    until_true 'one question alone' is_alone
    line=$(board line button)
    echo pull-down > "$line/pull"
    sleep 0.2
    echo pull-up > "$line/pull"
}
is_alone() { get proximity | grep -q '"ambiguous":false'; }
# The agent logs in by a phone. Waits until that has the request.
start_login() {
    "$LATCHKEY" login --ble --json > /run/login.out 2>&1 &
    login=$!
    await '"phone":"peripheral","event":"request"'
}
# Waits for its end.
end_login() {
    wait "$login"
    observe login $?
}
# The lab has the request authorized that the phone received.
authorize() {
    "$PROGRAMS/latchkey-lab" logins authorize --user alice \
        "$(tail -n "+$((seen + 1))" "$log" | sed -n 's/.*"provider_url":"\([^"]*\)".*/\1/p')" > /run/authorize.out
    observe authorize $?
}
# Starts a phone, the lab and the agent, and waits until they are ready.
start_programs() {
    make_agent "$DEFINITION" "[bluetooth]
transport = \"$TRANSPORT\"
adapter = \"hci0\"
[proximity]
requests_per_minute = 60"
    start_phones
    start_phone peripheral A 2 /run/decisions
    start_lab --authorization-life 900 --code-life 900
    [ "$TRANSPORT" = kernel ] || given 'bluetoothd' board bluetoothd
    # shellcheck disable=SC2119 # by nothing else
    start_agent
}
# Notes the memory of its own the agent has, in KiB: pages of its program come in as they are first used.
weigh() {
    observe huge-pages "$(sed -n 's/^THP_enabled:[^0-9]*//p' "/proc/$agent/status")"
    observe memory "$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$agent/status")"
}
