#!/bin/sh
# Sets the simulated sensors from outside while the probe reads them through the kernel's drivers.
# shellcheck source-path=SCRIPTDIR source=steps.sh
. "${0%/*}/steps.sh"

step check
probe check "$DEFINITION"

start_probe run "$DEFINITION"
step start
await '"name":"ds18b20.temperature"'

step change
board sensor cpu 61234
board sensor tmp75.temperature -12500
board sensor sht21.humidity 61000
board sensor bme280.temperature 31000
board sensor bme280.pressure 98.765
for value in '"cpu.temperature".*61.234' '"tmp75.temperature".*-12.5' '"sht21.humidity".*6[01]' \
    '"bme280.temperature".*31' '"bme280.pressure".*987.6'; do await "$value"; done

step absent
board sensor ds18b20 absent
await '"failed".*"ds18b20.temperature"'
# It goes on failing for some attempts, and another sensor is read all the while.
for value in 50000 52000 54000 56000; do
    board sensor cpu $value
    await "\"cpu.temperature\".*${value%000}"
done

step returned
board sensor ds18b20 -7500
await '"recovered".*"ds18b20.temperature"'
await '"ds18b20.temperature".*-7.5'

step failing
board sensor cpu -300000
await '"failed".*"cpu.temperature"'
board sensor cpu 47000
await '"cpu.temperature".*47'

# Both drivers let go of their parts and take them again in the other order: their hwmon numbers change places.
step renumbered
tmp75=$(basename /sys/bus/i2c/devices/*-0048)
sht21=$(basename /sys/bus/i2c/devices/*-0040)
number() { basename "/sys/bus/i2c/devices/$tmp75/hwmon"/hwmon* | tr -cd 0-9; }
observe before "$(number)"
echo "$tmp75" > /sys/bus/i2c/drivers/lm75/unbind
await '"failed".*"tmp75.temperature"'
echo "$sht21" > /sys/bus/i2c/drivers/sht21/unbind
echo "$sht21" > /sys/bus/i2c/drivers/sht21/bind
echo "$tmp75" > /sys/bus/i2c/drivers/lm75/bind
observe after "$(number)"
board sensor tmp75.temperature 33000
await '"tmp75.temperature".*33'
end_probe
