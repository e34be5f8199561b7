#!/bin/sh
# Lets phones, which have a Bluetooth stack of their own, log in by the agent and the agent log in by them.
# shellcheck source-path=SCRIPTDIR source=phones.sh
. "${0%/*}/phones.sh"
# shellcheck source=crowd.sh
. "${0%/*}/crowd.sh"
start_programs

step enrolled
"$LATCHKEY" status --follow --json >> "$log" &
following=$!
administer enrollments --json '{}' | sed 's/.*"url":"\([^"]*\)".*/\1/' > /run/url
ask enroll - < /run/url
await '"broker.connected"'
await_phone '"phone":"peripheral","event":"started"'

# An Android phone has no descriptor to subscribe with: bluetoothd hears nothing from it, and the gateway is asked.
step by-android
start_login
authorize
echo 'go 0' > /run/decisions
end_login
await '"proximity.device-disconnected"'
ask whoami
ask logout
echo stop > /run/decisions
start_phone peripheral I 3 /run/answers
start_phone central A 1 /run/orders
await_phone '"started".*"kind":"I"'

step by-declining-iphone
start_login
echo 'go 1' > /run/answers
end_login

step by-iphone
start_login
authorize
echo 'go 0' > /run/answers
end_login
await '"proximity.device-disconnected"'
ask whoami
ask logout
echo stop > /run/answers

step alice
echo alice-password | "$LATCHKEY" login --user alice --password-stdin --json >> "$log" 2>&1
observe login $?
take_urls 20
ask share --for 10m
await '"proximity.sharing-started"'
await_phone '"phone":"central","event":"ready"'

step android
next_url
order "--kind A --name 'Küchenfenster №5 ☕'"
await_question
ask consent grant "$question"
await_answer

step silent-android
next_url
order "--kind A --no-subscription --name Silent"
let_in
await '"proximity.session-\(not-\)*notified"'
echo "{\"event\":\"polled\",\"answer\":$(curl -sSk "$url/poll")}" >> "$log"
await_end

step iphone
next_url
order "--kind I --name iPhone"
await_question
press
await_answer

step nameless
next_url
order "--kind I"
let_in
await_answer
weigh

# Nobody is asked: the phone leaves before it has said what it wants.
step leaving
next_url
order --mode leave:seen,leave:connected,leave:discovered,leave:begun,leave:unfinished
await_end 5

# The question is withdrawn, or not even asked; the next one is answered.
step withdrawn
order --mode leave:written
await '"proximity.session-not-authorized"'
await_end

step returned
order --mode leave:answered
let_in
await '"proximity.session-authorized"'
await_end

step unreadable
next_url
order --mode invalid-text,invalid-document
await_end 2

step foreign
mine=$url
url=https://gateway.example:8443/auth/device/authorization/1234
order --mode whole
await_end

step flood
order --mode flood
await_end

step endless
url=$mine
order --mode endless
await_end

step noise
order --mode noise
await_end

# What was authorized once is not authorized again.
step replay
order --mode replay
let_in
await_end

# Nobody has to bear this for longer than half a minute. bluetoothd tells of nobody who has not at least subscribed.
# Meanwhile another radio gets ready.
start_crowd
step silence
next_url
if [ "$TRANSPORT" = kernel ]; then order --mode silence; else order --mode idleness; fi
await_end

step after
next_url
order --kind I
let_in
await_answer
weigh
ask_lab

step ended
echo stop > /run/orders
kill $agent
wait $agent
observe agent $?

meet_crowd
