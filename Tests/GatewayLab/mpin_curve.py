"""BN254CX, hashes and the PIN as MPIN 2 has them, and the pairing of MPIN 4.1: integers of Python, and nothing else."""
import hashlib

U = -0x4000000003C012B1
P = 36 * U**4 + 36 * U**3 + 24 * U**2 + 6 * U + 1
N = 36 * U**4 + 36 * U**3 + 18 * U**2 + 6 * U + 1
G = (P - 1, 1)
# The generator of G2: each coordinate is a + b·i.
Q = ((0x19682d2c7053b256358b2500f5c34bbb907c85bfa03e2726c0851ceee4d2ec74,
      0x1466b9ec3e19f64aa011c937a8e99743f81b97b0c209c30f47a58e8b2e29cfe1),
     (0x0a79edd972332b8dd81e22157daee2096361b33d847ec1b30cfbfcebcf0be09f,
      0x06160c39ecc4c09035c6e4512d8d3461c2864ea569d2edebed904b228898ee9d))


def add(a, b):
    """The sum of two points; None is infinity."""
    if a is None or b is None:
        return a or b
    (x1, y1), (x2, y2) = a, b
    if x1 == x2:
        if (y1 + y2) % P == 0:
            return None
        slope = 3 * x1 * x1 * pow(2 * y1, -1, P)
    else:
        slope = (y2 - y1) * pow(x2 - x1, -1, P)
    x = (slope * slope - x1 - x2) % P
    return x, (slope * (x1 - x) - y1) % P


def negative(a):
    return a and (a[0], -a[1] % P)


def times(k, a):
    total = None
    for bit in bin(k % N)[2:]:
        total = add(total, total)
        if bit == "1":
            total = add(total, a)
    return total


def encode(a):
    return "04{:064x}{:064x}".format(*a)


def decode(text):
    assert len(text) == 130 and text[:2] == "04" and text == text.lower(), text
    x, y = int(text[2:66], 16), int(text[66:], 16)
    assert x < P and y < P and (y * y - x**3 - 2) % P == 0, "a point that is not on the curve"
    return x, y


def digest(data, day=0):
    return hashlib.sha256((day.to_bytes(4, "big") if day > 0 else b"") + data).digest()


def point_of(octets):
    x = int.from_bytes(octets, "big") % P
    while pow(x**3 + 2, (P - 1) // 2, P) != 1:
        x = (x + 1) % P
    y = pow(x**3 + 2, (P + 1) // 4, P)
    return x, P - y if y % 2 else y


def factor(pin):
    total = 0
    for octet in pin.encode():
        total = (31 * total + octet) % 2**32
    if total >= 2**31:
        total -= 2**32
    rest = abs(total) % 10000 * (1 if total >= 0 else -1)
    return rest & 0x3FFF


# Numbers of Fp12 are polynomials in w below degree 12, modulo w^12 - 2 w^6 + 2; i = w^6 - 1.

def product(a, b):
    wide = [0] * 23
    for i, x in enumerate(a):
        if x:
            for j, y in enumerate(b):
                wide[i + j] += x * y
    for k in range(22, 11, -1):
        wide[k - 6] += 2 * wide[k]
        wide[k - 12] -= 2 * wide[k]
    return [x % P for x in wide[:12]]


def raised(a, k):
    total = [1] + [0] * 11
    for bit in bin(k)[2:]:
        total = product(total, total)
        if bit == "1":
            total = product(total, a)
    return total


def lifted(number, power):
    """(a + b·i)·w^power"""
    a, b = number
    wide = [0] * 12
    wide[power], wide[power + 6] = (a - b) % P, b % P
    return wide


def tate(point, other):
    """The Tate pairing before the last power, of a point of G1 and one of G2."""
    x, y = lifted(other[0], 2), lifted(other[1], 3)
    value, current = [1] + [0] * 11, point
    for bit in bin(N)[3:]:
        value, current = step(product(value, value), current, current, x, y)
        if bit == "1":
            value, current = step(value, current, point, x, y)
    return value


def step(value, a, b, x, y):
    """Multiplies by the line through two points, and adds them."""
    (x1, y1), (x2, y2) = a, b
    if x1 == x2 and (y1 + y2) % P == 0:  # The last step: a vertical line, which the last power removes.
        return value, None
    slope = (3 * x1 * x1 * pow(2 * y1, -1, P) if a == b else (y2 - y1) * pow(x2 - x1, -1, P)) % P
    line = [(yi - slope * xi) % P for xi, yi in zip(x, y)]
    line[0] = (line[0] + slope * x1 - y1) % P
    return product(value, line), add(a, b)


def accepts(validator, commitment, y, base, secret):
    """e(V, Q) · e(C + yB, sQ) = 1, where sQ stands on the side of G1, which is bilinear."""
    left = tate(validator, Q)
    right = tate(add(commitment, times(y, base)), server_key(secret))
    return raised(product(left, right), (P**12 - 1) // N) == [1] + [0] * 11


# G2, for the server's key.

def f2_product(a, b):
    return (a[0] * b[0] - a[1] * b[1]) % P, (a[0] * b[1] + a[1] * b[0]) % P


def f2_inverse(a):
    norm = pow(a[0] * a[0] + a[1] * a[1], -1, P)
    return a[0] * norm % P, -a[1] * norm % P


def f2_difference(a, b):
    return (a[0] - b[0]) % P, (a[1] - b[1]) % P


def g2_add(a, b):
    if a is None or b is None:
        return a or b
    (x1, y1), (x2, y2) = a, b
    if x1 == x2:
        assert y1 == y2
        square = f2_product(x1, x1)
        slope = f2_product((3 * square[0], 3 * square[1]), f2_inverse((2 * y1[0], 2 * y1[1])))
    else:
        slope = f2_product(f2_difference(y2, y1), f2_inverse(f2_difference(x2, x1)))
    x = f2_difference(f2_difference(f2_product(slope, slope), x1), x2)
    return x, f2_difference(f2_product(slope, f2_difference(x1, x)), y1)


def server_key(secret):
    """sQ: what a real server has in place of s."""
    total = None
    for bit in bin(secret % N)[2:]:
        total = g2_add(total, total)
        if bit == "1":
            total = g2_add(total, Q)
    return total
