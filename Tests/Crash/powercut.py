#!/usr/bin/env python3
"""A file system whose power can be cut: what was not synced is thrown away, or survives in part.

Speaks the kernel's FUSE protocol (linux/fuse.h) over /dev/fuse itself, as root and without a library. Everything is in
memory: each file with its bytes as programs see them, its bytes as they are on the disk, and the writes in between.
Orders come on standard input, one a line, each answered by a line that begins with "ok" or "error":

    mount PATH            mounts it there
    cut N                 the power goes with the Nth change from now on; every call but a read then fails with EIO
    restart SEED          decides by SEED what was on the disk, and mounts that again
    limit BYTES           from now on files together take no more than that (0: any)
    state                 "ok on" or "ok off", and the number of changes so far

What a cut leaves, strictly by what POSIX promises: a file's bytes are on the disk once it was synced, a name once its
directory was. Of what came after, nothing survives, or everything, or a part: names in the order of their changes up to
some moment; writes in pieces of 512 or 4096 bytes, each for itself, so that a write may be torn and a later one outlive
an earlier.
"""
import ctypes
import errno
import os
import random
import signal
import stat
import struct
import sys
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)
(LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR, RENAME, LINK, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC,
 FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, FSYNCDIR, CREATE, INTERRUPT, DESTROY, BATCH_FORGET, RENAME2) = (
    1, 2, 3, 4, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 25, 26, 27, 28, 29, 30, 35, 36, 38, 42, 45)
BLOCK = 4096
FOREVER = 1 << 30


class Refusal(Exception):
    """An errno for the caller."""


class Node:
    """A file or a directory: as programs see it, as it is on the disk, and what lies between."""

    def __init__(self, number, mode):
        self.number, self.mode, self.mtime = number, mode, time.time_ns()
        self.is_directory = stat.S_ISDIR(mode)
        self.now = {} if self.is_directory else bytearray()
        self.disk = {} if self.is_directory else bytearray()
        self.unsynced = []

    def change(self, step):
        apply(self.now, step)
        self.unsynced.append(step)

    def sync(self):
        for step in self.unsynced:
            apply(self.disk, step)
        self.unsynced = []

    def survive(self, chance, survives):
        """Makes what was on the disk when the power went, and lets it be all there is."""
        kept = 0
        if self.is_directory:
            kept = chance.randint(0, len(
                self.unsynced)) if survives == "part" else len(self.unsynced) * (survives == "all")
            for step in self.unsynced[:kept]:
                apply(self.disk, step)
        elif survives != "nothing":
            for step in self.unsynced:
                kept += keep(self.disk, step, chance, survives)
        self.unsynced = []
        self.now = self.disk.copy()
        return kept


def apply(content, step):
    if step[0] == "write":
        _, offset, data = step
        if offset > len(content):
            content.extend(bytes(offset - len(content)))
        content[offset:offset + len(data)] = data
    elif step[0] == "size":
        del content[step[1]:]
        content.extend(bytes(step[1] - len(content)))
    else:
        for name, node in step[1]:
            if node is None:
                content.pop(name, None)
            else:
                content[name] = node


def keep(content, step, chance, survives):
    """Applies a step to the disk, or a part of it, or nothing."""
    if survives == "all":
        apply(content, step)
        return 1
    if step[0] == "size":
        if chance.random() < 0.5:
            return 0
        apply(content, step)
        return 1
    _, offset, data = step
    piece, start = chance.choice([512, BLOCK]), 0
    while start < len(data):
        end = min(len(data), (offset + start) // piece * piece + piece - offset)
        if chance.random() < 0.5:
            apply(content, ("write", offset + start, data[start:end]))
        start = end
    return 1


class FileSystem:
    def __init__(self):
        self.root = Node(1, stat.S_IFDIR | 0o700)
        self.nodes = {1: self.root}
        self.lock = threading.Lock()
        self.next, self.changes, self.cut_at, self.is_on, self.limit = 2, 0, None, True, 0

    # -- orders

    def restart(self, seed):
        chance = random.Random(seed)
        survives = chance.choices(["nothing", "all", "part"], [25, 15, 60])[0]
        unsynced = sum(len(node.unsynced) for node in self.nodes.values())
        kept = sum(node.survive(chance, survives) for node in list(self.nodes.values()))
        reachable, waiting = {}, [self.root]
        while waiting:
            node = waiting.pop()
            reachable[node.number] = node
            if node.is_directory:
                waiting += node.now.values()
        self.nodes = reachable
        self.is_on, self.cut_at = True, None
        return f"ok {survives}, {kept} of {unsynced} unsynced changes kept"

    def changing(self):
        """Counts a change; with the one that was ordered the power goes, before or after it had reached the device."""
        if not self.is_on:
            raise Refusal(errno.EIO)
        self.changes += 1
        if self.cut_at is not None and self.changes >= self.cut_at:
            self.is_on = False

    def survived(self):
        if not self.is_on:
            raise Refusal(errno.EIO)

    def room(self, more):
        if self.limit and more > 0 and self.used() + more > self.limit:
            raise Refusal(errno.ENOSPC)

    def used(self):
        return sum(len(node.now) for node in self.nodes.values() if not node.is_directory)

    # -- answers

    def attributes(self, node):
        size = BLOCK if node.is_directory else len(node.now)
        seconds, nanoseconds = divmod(node.mtime, 10 ** 9)
        # A file that has lost its last name has no link; whoever has it open goes on with it.
        return struct.pack("<6Q10I", node.number, size, (size + 511) // 512, seconds, seconds, seconds, nanoseconds,
                           nanoseconds, nanoseconds, node.mode, 1, 0, 0, 0, BLOCK, 0)

    def entry(self, node):
        return struct.pack("<4Q2I", node.number, 1, FOREVER, FOREVER, 0, 0) + self.attributes(node)

    def child(self, parent, name):
        node = parent.now.get(name)
        if node is None:
            raise Refusal(errno.ENOENT)
        return node

    def make(self, parent, name, mode):
        if name in parent.now:
            raise Refusal(errno.EEXIST)
        self.changing()
        node = Node(self.next, mode)
        self.next += 1
        self.nodes[node.number] = node
        parent.change(("names", [(name, node)]))
        self.survived()
        return node

    def answer(self, operation, number, body):
        # Reads go on. The power may go with a page of SQLite's mapped index that the kernel writes back by itself: no
        # call has failed then, and to the program, which is about to touch the next page, a refused read would be a bus
        # error.
        if not self.is_on and operation not in (READ, RELEASE, RELEASEDIR, FLUSH, STATFS):
            raise Refusal(errno.EIO)
        node = self.nodes.get(number)
        if node is None:
            raise Refusal(errno.ESTALE)
        if operation == LOOKUP:
            return self.entry(self.child(node, body[:-1]))
        if operation == GETATTR:
            return struct.pack("<Q2I", FOREVER, 0, 0) + self.attributes(node)
        if operation == SETATTR:
            return self.set_attributes(node, body)
        if operation == MKDIR:
            mode, _ = struct.unpack_from("<2I", body)
            return self.entry(self.make(node, body[8:-1], stat.S_IFDIR | mode & 0o7777))
        if operation == CREATE:
            _, mode, _, _ = struct.unpack_from("<4I", body)
            made = self.make(node, body[16:-1], stat.S_IFREG | mode & 0o7777)
            return self.entry(made) + struct.pack("<Q2I", made.number, 0, 0)
        if operation in (UNLINK, RMDIR):
            self.child(node, body[:-1])
            self.changing()
            node.change(("names", [(body[:-1], None)]))
            return self.survived() or b""
        if operation in (RENAME, RENAME2):
            return self.rename(node, body, 8 if operation == RENAME else 16)
        if operation == LINK:
            source = self.nodes[struct.unpack_from("<Q", body)[0]]
            if body[8:-1] in node.now:
                raise Refusal(errno.EEXIST)
            self.changing()
            node.change(("names", [(body[8:-1], source)]))
            self.survived()
            return self.entry(source)
        if operation in (OPEN, OPENDIR):
            return struct.pack("<Q2I", number, 0, 0)
        if operation == READ:
            _, offset, size = struct.unpack_from("<2QI", body)
            return bytes(node.now[offset:offset + size])
        if operation == WRITE:
            _, offset, size = struct.unpack_from("<2QI", body)
            self.room(offset + size - len(node.now))
            self.changing()
            node.mtime = time.time_ns()
            node.change(("write", offset, bytes(body[40:40 + size])))
            self.survived()
            return struct.pack("<2I", size, 0)
        if operation in (FSYNC, FSYNCDIR):
            self.changing()
            self.survived()
            node.sync()
            return b""
        if operation == READDIR:
            return self.listing(node, body)
        if operation == STATFS:
            blocks = (self.limit or 1 << 30) // BLOCK
            free = max(0, blocks - self.used() // BLOCK)
            return struct.pack("<5Q10I", blocks, free, free, 1 << 20, 1 << 20, BLOCK, 255, BLOCK, *[0] * 7)
        if operation in (RELEASE, RELEASEDIR, FLUSH, DESTROY):
            return b""
        raise Refusal(errno.ENOSYS)

    def set_attributes(self, node, body):
        valid, _, _, size = struct.unpack_from("<2I2Q", body)
        mtime, mtime_nanoseconds = struct.unpack_from("<Q", body, 40)[0], struct.unpack_from("<I", body, 60)[0]
        if valid & 8:
            self.room(size - len(node.now))
            self.changing()
            node.change(("size", size))
            self.survived()
        if valid & 1:
            node.mode = stat.S_IFMT(node.mode) | struct.unpack_from("<I", body, 68)[0] & 0o7777
        if valid & 0x20:
            node.mtime = time.time_ns() if valid & 0x100 else mtime * 10 ** 9 + mtime_nanoseconds
        return struct.pack("<Q2I", FOREVER, 0, 0) + self.attributes(node)

    def rename(self, node, body, start):
        target = self.nodes[struct.unpack_from("<Q", body)[0]]
        old, new = body[start:-1].split(b"\0")
        moved = self.child(node, old)
        self.changing()
        if target is node:
            node.change(("names", [(old, None), (new, moved)]))
        else:
            target.change(("names", [(new, moved)]))
            node.change(("names", [(old, None)]))
        return self.survived() or b""

    def listing(self, node, body):
        _, offset, room = struct.unpack_from("<2QI", body)
        answer = b""
        for index, (name, child) in enumerate(list(node.now.items())[offset:], offset + 1):
            kind = stat.S_IFMT(child.mode) >> 12
            one = struct.pack("<2Q2I", child.number, index, len(name), kind) + name
            one += bytes(-len(one) % 8)
            if len(answer) + len(one) > room:
                break
            answer += one
        return answer


class Mount:
    """One time that the file system is mounted; serves the kernel on a thread of its own."""

    def __init__(self, files, path):
        self.files, self.path = files, path
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0,default_permissions"
        if LIBC.mount(b"powercut", path.encode(), b"fuse", 2 | 4, options.encode()) != 0:
            raise OSError(ctypes.get_errno(), "mount: " + os.strerror(ctypes.get_errno()))
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def end(self):
        # MNT_FORCE cuts off whoever still waits for an answer, MNT_DETACH whoever still has a file open.
        if LIBC.umount2(self.path.encode(), 1) != 0:
            LIBC.umount2(self.path.encode(), 2)
        self.thread.join(5)
        os.close(self.device)

    def serve(self):
        while True:
            try:
                request = os.read(self.device, 1 << 20)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT):
                    continue
                return
            _, operation, unique, number = struct.unpack_from("<2I2Q", request)
            if operation in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            try:
                with self.files.lock:
                    if operation == INIT:
                        answer = self.initialization(request)
                    else:
                        answer = self.files.answer(operation, number, request[40:])
                reply = struct.pack("<IiQ", 16 + len(answer), 0, unique) + answer
            except Refusal as refusal:
                reply = struct.pack("<IiQ", 16, -refusal.args[0], unique)
            try:
                os.write(self.device, reply)
            except OSError as error:
                # ENOENT: the caller was killed meanwhile.
                if error.errno not in (errno.ENOENT, errno.EINTR):
                    return

    @staticmethod
    def initialization(request):
        major, minor, readahead, flags = struct.unpack_from("<4I", request, 40)
        # FUSE_BIG_WRITES alone: no cache that writes back, and locks are the kernel's own.
        return struct.pack("<4I2H2I2H8I", 7, min(minor, 31), readahead, flags & 1 << 5, 16, 12, 128 << 10, 1, 0, 0,
                           *[0] * 8)


def main():
    # Whoever ends it has the disk taken down too: a mount that nobody serves would stay.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    mounts = []
    try:
        obey(mounts)
    finally:
        for mount in mounts:
            mount.end()


def obey(mounts):
    """Carries out orders to their end. `mounts` has what is mounted: one, or none."""
    files = FileSystem()
    for line in sys.stdin:
        order, *arguments = line.split()
        answer = "ok"
        try:
            if order == "mount":
                mounts.append(Mount(files, arguments[0]))
            elif order == "restart":
                mount = mounts.pop()
                with files.lock:
                    files.is_on = False
                mount.end()
                with files.lock:
                    answer = files.restart(int(arguments[0]))
                mounts.append(Mount(files, mount.path))
            else:
                with files.lock:
                    if order == "cut":
                        files.cut_at = files.changes + int(arguments[0])
                    elif order == "limit":
                        files.limit = int(arguments[0])
                    elif order == "state":
                        answer = f"ok {'on' if files.is_on else 'off'} {files.changes}"
                    else:
                        answer = "error no such order"
        except OSError as error:
            answer = f"error {error}"
        print(answer, flush=True)


if __name__ == "__main__":
    main()
