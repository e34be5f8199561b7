"""Input devices that the kernel makes (uinput): a scanner of codes, and the keys of a board's device tree.

    scanner.py NAME FIFO     prints the device; types each line that comes by the FIFO, and Enter. A line "key CODE" of the
                             device "gpio-keys" is a press of that key
"""
import fcntl
import glob
import os
import struct
import sys

ROWS = [(2, "1234567890-=", "!@#$%^&*()_+"), (16, "qwertyuiop[]", "QWERTYUIOP{}"),
        (30, "asdfghjkl;'`", 'ASDFGHJKL:"~'), (43, "\\zxcvbnm,./", "|ZXCVBNM<>?")]
SHIFT, ENTER = 42, 28
# linux/uinput.h.
UI_SET_EVBIT, UI_SET_KEYBIT, UI_DEV_SETUP, UI_DEV_CREATE = 0x40045564, 0x40045565, 0x405C5503, 0x5501


def keys(character):
    for first, plain, shifted in ROWS:
        if character in plain:
            return first + plain.index(character), False
        if character in shifted:
            return first + shifted.index(character), True
    raise ValueError(character)


def main(name, fifo):
    device = os.open("/dev/uinput", os.O_WRONLY)
    for kind in [0, 1]:
        fcntl.ioctl(device, UI_SET_EVBIT, kind)
    for code in [*range(1, 60), 116, 256]:
        fcntl.ioctl(device, UI_SET_KEYBIT, code)
    fcntl.ioctl(device, UI_DEV_SETUP, struct.pack("@HHHH80sI", 3, 1, 1, 1, name.encode(), 0))
    before = set(glob.glob("/dev/input/event*"))
    fcntl.ioctl(device, UI_DEV_CREATE)
    while not (made := set(glob.glob("/dev/input/event*")) - before):
        pass
    print(made.pop(), flush=True)

    def send(code, value):
        os.write(device, struct.pack("@llHHi", 0, 0, 1, code, value))
        os.write(device, struct.pack("@llHHi", 0, 0, 0, 0, 0))

    def press(code):
        send(code, 1)
        send(code, 0)

    while True:
        with open(fifo) as lines:
            for line in lines.read().splitlines():
                if line.startswith("key "):
                    press(int(line[4:]))
                    continue
                for character in line:
                    code, is_shifted = keys(character)
                    if is_shifted:
                        send(SHIFT, 1)
                    press(code)
                    if is_shifted:
                        send(SHIFT, 0)
                press(ENTER)


main(*sys.argv[1:])
