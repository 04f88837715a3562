#!/usr/bin/python3
"""A client of memtop's protocol in another language: protocol/README.md, the
standard library and the msgpack module, nothing else.

    client.py SOCKET [--seconds N] [--samples N]   greets a live probe
    client.py --file FILE                          reads frames from a file

Prints what it saw as one JSON object. Exits 4 on bytes that are no sound
stream and 3 when there is none, and says on standard error what was wrong.
"""
import argparse
import json
import socket
import struct
import sys
import time
import zlib

import msgpack

HEADER = struct.Struct(">4sIBBHIQQ")
BODY_MAX = 16 * 1024 * 1024
VERSION = 1

PROCESS = ("rss_bytes", "heap_slots_live", "heap_slots_free", "gc_count",
           "gc_major_count", "gc_time_ms", "heap_age_ms")
PROBE = ("cost_ppm", "drift", "drift_total", "dropped_frames", "census_us",
         "census_objects", "viewers")
COUNTS = ("live", "allocated", "freed", "bytes")

KINDS = {
    1: ("hello", ("version", "program_version", "pid", "parent_pid", "command",
                  "runtime", "started_us", "mode", "capabilities", "interval_ms")),
    2: ("names", ("list",)),
    3: ("sample", ("key", "mode", "process", "probe", "totals", "rows", "gone")),
    4: ("notice", ("id", "severity", "text")),
    5: ("result", ("id", "status", "text")),
    6: ("bye", ("reason", "status", "text")),
    64: ("greeting", ("version", "program_version")),
    65: ("request", ("id", "action", "argument")),
}


class Broken(Exception):
    """The stream is not what README.md says."""


def text(value):
    """Names may hold any bytes."""
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value


def crc_of(header, body):
    return zlib.crc32(body, zlib.crc32(header[16:], zlib.crc32(header[:12])))


def frames(read):
    """(kind, fields) of every frame of a known kind; read(n) gives n bytes, or
    fewer at the end of the stream."""
    offset = 0
    while True:
        header = read(HEADER.size)
        if not header:
            return
        if len(header) < HEADER.size:
            raise Broken(f"byte {offset}: the stream ends inside a header")
        magic, length, kind, flags, _, crc, _, _ = HEADER.unpack(header)
        if magic != b"MTOP":
            raise Broken(f"byte {offset}: no frame begins here")
        if length > BODY_MAX:
            raise Broken(f"byte {offset}: frame of {length} bytes")
        body = read(length)
        if len(body) < length:
            raise Broken(f"byte {offset}: the stream ends inside a body")
        if crc_of(header, body) != crc:
            raise Broken(f"byte {offset}: the CRC does not fit")
        if kind in KINDS and flags == 0:
            yield unpack(kind, body)
        offset += HEADER.size + length


def unpack(kind, body):
    name, fields = KINDS[kind]
    by_key = msgpack.unpackb(body, raw=True, strict_map_key=False)
    if not isinstance(by_key, dict):
        raise Broken(f"{name}: the body is not a map")
    return name, {field: text(by_key.get(key)) for key, field in enumerate(fields)}


class State:
    """What the stream has said so far."""

    def __init__(self):
        self.hello = None
        self.names = {}
        self.rows = {}
        self.samples = 0
        self.key_samples = 0
        self.last = None
        self.notices = {}
        self.results = []
        self.bye = None

    def apply(self, name, fields):
        getattr(self, "on_" + name)(fields)

    def on_hello(self, fields):
        if fields["version"] != VERSION:
            raise Broken(f"the probe speaks version {fields['version']}, not {VERSION}")
        self.hello = fields

    def on_names(self, fields):
        for class_id, flags, name, *_ in fields["list"] or ():
            self.names[class_id] = (text(name), flags)

    def on_sample(self, fields):
        if fields["key"]:
            self.rows = {}
            self.key_samples += 1
        elif self.last is None:
            raise Broken("a delta sample came before any key sample")
        for class_id, *counts in fields["rows"] or ():
            if class_id not in self.names:
                raise Broken(f"class {class_id} is counted before it is named")
            self.rows[class_id] = dict(zip(COUNTS, counts))
        for class_id in fields["gone"] or ():
            self.rows.pop(class_id, None)
        self.samples += 1
        self.last = fields

    def on_notice(self, fields):
        self.notices[fields["id"]] = fields
        if not fields["text"]:
            del self.notices[fields["id"]]

    def on_result(self, fields):
        self.results.append(fields)

    def on_bye(self, fields):
        self.bye = fields

    def on_greeting(self, fields):
        raise Broken("a probe does not greet")

    def on_request(self, fields):
        raise Broken("a probe does not request")

    def as_json(self):
        last = self.last or {}
        return {
            "hello": self.hello,
            "names": {class_id: name for class_id, (name, _) in self.names.items()},
            "flags": {class_id: flags for class_id, (_, flags) in self.names.items()},
            "samples": self.samples,
            "key_samples": self.key_samples,
            "classes": self.classes(),
            "mode": last.get("mode"),
            "process": dict(zip(PROCESS, last.get("process") or ())),
            "probe": dict(zip(PROBE, last.get("probe") or ())),
            "totals": dict(zip(COUNTS, last.get("totals") or ())),
            "notices": list(self.notices.values()),
            "results": self.results,
            "bye": self.bye,
        }

    def classes(self):
        """Two classes may have one name: anonymous ones, above all."""
        found = {}
        for class_id, counts in self.rows.items():
            name = self.names[class_id][0]
            found[f"{name}#{class_id}" if name in found else name] = counts
        return found


def greeting():
    body = msgpack.packb({0: VERSION, 1: "client.py"})
    monotonic, wall = time.monotonic_ns() // 1000, time.time_ns() // 1000
    header = HEADER.pack(b"MTOP", len(body), 64, 0, 0, 0, monotonic, wall)
    return header[:12] + struct.pack(">I", crc_of(header, body)) + header[16:] + body


def read_exactly(connection, deadline):
    """A read() for frames(): the stream ends for us when the time is up."""

    def read(count):
        held = bytearray()
        while len(held) < count:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            connection.settimeout(left)
            piece = connection.recv(count - len(held))
            if not piece:
                break
            held += piece
        return bytes(held)

    return read


def watch(state, options):
    deadline = time.monotonic() + options.seconds
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(options.socket)
        connection.sendall(greeting())
        try:
            for name, fields in frames(read_exactly(connection, deadline)):
                state.apply(name, fields)
                if options.samples and state.samples >= options.samples:
                    return
        except TimeoutError:
            pass


def read_file(state, path):
    with open(path, "rb") as file:
        for name, fields in frames(file.read):
            state.apply(name, fields)


def main():
    parser = argparse.ArgumentParser(description="A client of memtop's protocol.")
    parser.add_argument("socket", nargs="?", help="of a probe")
    parser.add_argument("--file", help="read frames from here instead")
    parser.add_argument("--seconds", type=float, default=3, help="how long to watch")
    parser.add_argument("--samples", type=int, help="stop after so many")
    options = parser.parse_args()
    if (options.socket is None) == (options.file is None):
        parser.error("give a socket or a file")

    state = State()
    try:
        if options.file is not None:
            read_file(state, options.file)
        else:
            watch(state, options)
    except (Broken, ValueError) as problem:
        print(f"client.py: {problem}", file=sys.stderr)
        sys.exit(4)
    except OSError as problem:
        print(f"client.py: {options.socket or options.file}: {problem}", file=sys.stderr)
        sys.exit(3)
    json.dump(state.as_json(), sys.stdout)
    print()


if __name__ == "__main__":
    main()
