# Read by phone.sh: two phones at once, and a radio that can be watched, pulled out and put back. The agent gets an
# adapter whose controller Bumble emulates; see Phone/crowd.py.
# shellcheck shell=sh disable=SC2154 # names that phones.sh sets

start_crowd() { start_fork crowd.py --orders /run/crowd; }
# Has something done by phones and adapter.
crowd() { echo "$*" > /run/crowd; }
# Notes the moment, on the clock by which the phones note theirs.
stamp() { observe "$1" "$(milliseconds)"; }
# Starts the agent with the emulated adapter, sharing.
share_in_crowd() {
    address=$(sed -n 's/.*"phone":"air","event":"ready".*"address":"\([^"]*\)".*/\1/p' "$log")
    sed "s/^adapter = .*/adapter = \"$address\"/" /run/agent/latchkey.toml > /run/crowd.toml
    : > /run/agent.err
    "$LATCHKEY" run --config /run/crowd.toml > /run/agent.out 2>> /run/agent.err &
    agent=$!
    await_line /run/agent.err 1 ready $agent
    # The one before would follow this agent too.
    kill "$following"
    "$LATCHKEY" status --follow --json >> "$log" &
    await '"uptime"'
    ask share --for 30m
    await '"proximity.sharing-started"'
}
# Waits until the adapter advertises: the last that was noted of it counts.
await_air() { until_true 'the board on the air' is_on_air; }
is_on_air() {
    grep '"phone":"air","event":"\(advertising\|quiet\|unplugged\)"' "$log" | tail -n 1 | grep -q advertising
}
# Waits until so many exchanges of the crowd have ended, and nobody is connected for the agent either.
await_leave() { await '"event":"ended"' && until_true "the end of $1" have_left "$1"; }
have_left() {
    [ "$(logged '"event":"ended"')" -ge "$1" ] &&
        [ "$(logged '"proximity.central-connected"')" -eq "$(logged '"proximity.central-disconnected"')" ]
}
both_have_asked() { [ "$(logged '"proximity.request-received"')" -ge 2 ]; }
both_were_asked_about() { [ "$(logged '"proximity.consent-asked"')" -ge 2 ]; }
# Whom the first question was about: first or second.
winner() {
    tail -n "+$((seen + 1))" "$log" | sed -n '/"proximity.consent-asked"/s/.*"name":"\([a-z]*\)".*/\1/p' | head -n 1
}
refuse() { answer false > /run/refuse.out; }

meet_crowd() {
    step crowd
    await_phone '"phone":"air","event":"ready"'
    share_in_crowd

    # Both are connected before either writes; whoever is asked about first is let in.
    step both
    next_url
    first=$url
    next_url
    second=$url
    crowd both "$first" "$second"
    until_true 'both requests' both_have_asked
    await_question
    winner=$(winner)
    grant
    # bluetoothd cannot tell one of two that listen: the other one is hung up.
    if [ "$TRANSPORT" = kernel ]; then
        until_true 'the other question' both_were_asked_about
        await_question
        refuse
    fi
    await_leave 2
    await_air

    # Who was left out comes again; what was refused is not asked about again.
    step other
    if [ "$TRANSPORT" = kernel ]; then
        next_url
        first=$url second=$url
    fi
    if [ "$winner" = first ]; then crowd second --url "$second"; else crowd first --url "$first"; fi
    let_in
    await_leave 1
    await_air

    for mode in leave:begun flood endless; do
        step "air-$mode"
        next_url
        crowd first --url "$url" ${settled:+"$settled"} --mode $mode
        await_leave 1
        await_air
    done

    step unplugged
    crowd unplug
    await '"proximity.sharing-interrupted"'

    step plugged
    crowd plug
    await '"proximity.sharing-started"'
    await_air

    if [ "$TRANSPORT" = bluez ]; then
        for round in $(seq "${RESTARTS:-2}"); do
            step "restart-$round"
            kill -9 "$(pidof bluetoothd)"
            await '"proximity.sharing-interrupted"'
            given 'bluetoothd' board bluetoothd
            stamp restarted
            await '"proximity.sharing-started"'
            await_air
        done
    fi
    crowd stop
    kill $agent
}
