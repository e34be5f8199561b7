"""Runs a real gpsd on loopback, with a receiver that a test moves.

    gps.py FILE

Prints the port of gpsd. FILE holds what the receiver reports: a latitude and a longitude in degrees, or `none`. SIGTERM
ends it, and gpsd with it.
"""
import pathlib
import signal
import socket
import subprocess
import sys
import time


def sentence(text):
    check = 0
    for character in text:
        check ^= ord(character)
    return f"${text}*{check:02X}\r\n".encode()


def angle(degrees, digits, signs):
    whole, fraction = divmod(abs(degrees), 1)
    return f"{int(whole):0{digits}d}{fraction * 60:09.6f},{signs[degrees < 0]}"


def report(where_it_is):
    now = time.gmtime()
    clock, date = time.strftime("%H%M%S.00", now), time.strftime("%d%m%y", now)
    if where_it_is is None:
        return sentence(f"GPGGA,{clock},,,,,0,00,,,M,,M,,") + sentence(f"GPRMC,{clock},V,,,,,,,{date},,,N")
    where = f"{angle(where_it_is[0], 2, 'NS')},{angle(where_it_is[1], 3, 'EW')}"
    return (sentence(f"GPGGA,{clock},{where},1,08,0.9,100.0,M,46.9,M,,")
            + sentence("GPGSA,A,3,04,05,09,12,24,25,29,31,,,,,1.8,1.0,1.5")
            + sentence(f"GPRMC,{clock},A,{where},000.0,000.0,{date},,,A"))


def place():
    text = pathlib.Path(sys.argv[1]).read_text()
    return None if text == "none" else tuple(map(float, text.split()))


def held(kind):
    """A port that the system gives to nobody who asks for any, and gpsd gets by its number."""
    found = socket.socket(socket.AF_INET, kind)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind(("127.0.0.1", 0))
    return found


signal.signal(signal.SIGTERM, lambda *_: sys.exit())
holds = held(socket.SOCK_STREAM), held(socket.SOCK_DGRAM)
port, feed = (one.getsockname()[1] for one in holds)
gpsd = subprocess.Popen(
    ["gpsd", "-N", "-n", "-b", "-S", str(port), f"udp://127.0.0.1:{feed}"], stdin=subprocess.DEVNULL)
try:
    for _ in range(3000):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        if gpsd.poll() is not None:
            sys.exit(f"gpsd ended with {gpsd.returncode}")
        time.sleep(0.05)
    # What comes to the port is for gpsd alone.
    holds[1].close()
    print("port", port, flush=True)
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while True:
        receiver.sendto(report(place()), ("127.0.0.1", feed))
        time.sleep(0.2)
finally:
    gpsd.terminate()
    gpsd.wait()
