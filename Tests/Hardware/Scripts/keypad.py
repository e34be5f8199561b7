"""Keyboards that the kernel makes (uinput), and what others see of them.

    keypad.py make FIFO      a keypad: prints the device; presses the keys whose names come by the FIFO: "1 2 ENTER"
    keypad.py scan FIFO      a scanner of codes: prints the device; types the texts that come by the FIFO, each after
                             the milliseconds from one report of a key to the next, as a US keyboard does, and Enter
    keypad.py read DEVICE    prints a line for each key that goes down, as any program may read it
"""
import fcntl
import glob
import os
import struct
import sys
import time

SCANNER = b"Acme Barcode Scanner"
KEYS = {"ESC": 1, "BACKSPACE": 14, "ENTER": 28, "0": 11, **{str(digit): digit + 1 for digit in range(1, 10)}}
NAMES = {code: f"KEY_{name}" for name, code in KEYS.items()}
# The rows of a US keyboard by linux/input-event-codes.h: without and with Shift.
ROWS = {2: ("1234567890-=", "!@#$%^&*()_+"), 16: ("qwertyuiop[]", "QWERTYUIOP{}"), 30: ("asdfghjkl;'`", 'ASDFGHJKL:"~'),
        43: ("\\zxcvbnm,./", "|ZXCVBNM<>?")}
TYPED = {character: (first + place, bool(shifted)) for first, row in ROWS.items() for shifted, text in enumerate(row)
         for place, character in enumerate(text)}
SHIFT = 42
# linux/uinput.h.
UI_SET_EVBIT, UI_SET_KEYBIT, UI_DEV_SETUP, UI_DEV_CREATE = 0x40045564, 0x40045565, 0x405C5503, 0x5501
EVENT = "@llHHi"


def create(name, codes):
    device = os.open("/dev/uinput", os.O_WRONLY)
    for kind in [0, 1]:
        fcntl.ioctl(device, UI_SET_EVBIT, kind)
    for code in codes:
        fcntl.ioctl(device, UI_SET_KEYBIT, code)
    fcntl.ioctl(device, UI_DEV_SETUP, struct.pack("@HHHH80sI", 3, 1, 1, 1, name, 0))
    before = set(glob.glob("/dev/input/event*"))
    fcntl.ioctl(device, UI_DEV_CREATE)
    while not (made := set(glob.glob("/dev/input/event*")) - before):
        pass
    print(made.pop(), flush=True)
    return device


def report(device, *keys):
    """Keys that change at once: their codes, and whether they are down."""
    for code, value in keys:
        os.write(device, struct.pack(EVENT, 0, 0, 1, code, value))
    os.write(device, struct.pack(EVENT, 0, 0, 0, 0, 0))


def lines(fifo):
    while True:
        with open(fifo) as stream:
            yield from stream.read().splitlines()


def make(fifo):
    device = create(b"keypad", KEYS.values())
    for line in lines(fifo):
        for name in line.split():
            report(device, (KEYS[name], 1))
            report(device, (KEYS[name], 0))


def scan(fifo):
    device = create(SCANNER, [SHIFT, KEYS["ENTER"], *(code for code, _ in TYPED.values())])
    for line in lines(fifo):
        pause, text = line.split(" ", 1)
        for code, shifted in [*(TYPED[character] for character in text), (KEYS["ENTER"], False)]:
            for value in [1, 0]:
                report(device, *[(SHIFT, value)] * shifted, (code, value))
                time.sleep(int(pause) / 1000)


def read(path):
    with open(path, "rb", buffering=0) as device:
        while event := device.read(struct.calcsize(EVENT)):
            _, _, kind, code, value = struct.unpack(EVENT, event)
            if kind == 1 and value == 1:
                print(NAMES.get(code, code), flush=True)


{"make": make, "scan": scan, "read": read}[sys.argv[1]](sys.argv[2])
