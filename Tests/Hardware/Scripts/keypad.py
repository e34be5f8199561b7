"""A keypad that the kernel makes (uinput), and what others see of it.

    keypad.py make FIFO      prints the device; presses the keys whose names come by the FIFO, such as "1 2 ENTER"
    keypad.py read DEVICE    prints a line for each key that goes down, as any program may read it
"""
import fcntl
import glob
import os
import struct
import sys

KEYS = {"ESC": 1, "BACKSPACE": 14, "ENTER": 28, "0": 11, **{str(digit): digit + 1 for digit in range(1, 10)}}
NAMES = {code: f"KEY_{name}" for name, code in KEYS.items()}
# linux/uinput.h.
UI_SET_EVBIT, UI_SET_KEYBIT, UI_DEV_SETUP, UI_DEV_CREATE = 0x40045564, 0x40045565, 0x405C5503, 0x5501
EVENT = "@llHHi"


def make(fifo):
    device = os.open("/dev/uinput", os.O_WRONLY)
    for kind in [0, 1]:
        fcntl.ioctl(device, UI_SET_EVBIT, kind)
    for code in KEYS.values():
        fcntl.ioctl(device, UI_SET_KEYBIT, code)
    fcntl.ioctl(device, UI_DEV_SETUP, struct.pack("@HHHH80sI", 3, 1, 1, 1, b"keypad", 0))
    before = set(glob.glob("/dev/input/event*"))
    fcntl.ioctl(device, UI_DEV_CREATE)
    while not (made := set(glob.glob("/dev/input/event*")) - before):
        pass
    print(made.pop(), flush=True)
    while True:
        with open(fifo) as lines:
            for name in lines.read().split():
                for value in [1, 0]:
                    os.write(device, struct.pack(EVENT, 0, 0, 1, KEYS[name], value))
                    os.write(device, struct.pack(EVENT, 0, 0, 0, 0, 0))


def read(path):
    with open(path, "rb", buffering=0) as device:
        while event := device.read(struct.calcsize(EVENT)):
            _, _, kind, code, value = struct.unpack(EVENT, event)
            if kind == 1 and value == 1:
                print(NAMES.get(code, code), flush=True)


{"make": make, "read": read}[sys.argv[1]](sys.argv[2])
