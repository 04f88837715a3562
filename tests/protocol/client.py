#!/usr/bin/python3
"""A client of memtop's protocol in another language: protocol/README.md, the
standard library and the msgpack module, nothing else; for the compressed frames of
recordings the zstandard module as well.

    client.py SOCKET [--seconds N] [--samples N]   greets a live probe
    client.py SOCKET --open CLASS                  opens a class, prints its tree
    client.py --file FILE                          reads frames from a file: a recording

Prints what it saw as one JSON object, or with --open the class's call tree as
text once there is one. Exits 4 on bytes that are no sound
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
ZSTD = 1  # the flag

PROCESS = ("rss_bytes", "heap_slots_live", "heap_slots_free", "gc_count",
           "gc_major_count", "gc_time_ms", "heap_age_ms")
PROBE = ("cost_ppm", "drift", "drift_total", "dropped_frames", "census_us",
         "census_objects", "viewers")
COUNTS = ("live", "allocated", "freed", "bytes")
SITE = ("live", "allocated", "bytes", "ages")
TAG = ("calls", "active", "allocated", "freed", "live", "bytes")
OPEN = 5
VERDICTS = ("", "new", "steady", "churn", "growing", "leak?")
SPECIAL = {0: "(root)", 1: "(before tracing)", 2: "(other)", 3: "(deeper stack, cut)",
           4: "(no Ruby frame)"}
FRAME_FIRST = 16
LETTERS = {**{letter: chr(65 + letter) for letter in range(26)}, 255: "since connecting"}

KINDS = {
    1: ("hello", ("version", "program_version", "pid", "parent_pid", "command",
                  "runtime", "started_us", "mode", "capabilities", "interval_ms")),
    2: ("names", ("list",)),
    3: ("sample", ("key", "mode", "process", "probe", "totals", "rows", "gone")),
    4: ("notice", ("id", "severity", "text")),
    5: ("result", ("id", "status", "text")),
    6: ("bye", ("reason", "status", "text")),
    7: ("frames", ("list",)),
    8: ("tree", ("class_id", "key", "flags", "live", "since_us", "shift",
                 "unsampled_live", "unsampled_allocated", "depth", "nodes_used",
                 "nodes_room", "nodes", "sites")),
    9: ("verdicts", ("list",)),
    10: ("mark", ("letter", "counted", "live", "bytes", "at_monotonic_us", "at_wall_us",
                  "rows", "places")),
    11: ("gap", ("reason", "text")),
    12: ("key", ("begin", "previous", "ordinal", "live", "rss_bytes", "gc_count", "mode", "earlier")),
    13: ("left", ("list",)),
    14: ("tags", ("key", "names", "rows", "classes")),
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
        if kind in KINDS and flags in (0, ZSTD):
            yield unpack(kind, decompress(body) if flags else body)
        offset += HEADER.size + length


def decompress(body):
    """The content of a compressed body, whose claim is not believed."""
    import zstandard  # not on every system, and only recordings need it
    try:
        length = zstandard.frame_content_size(body)
        if not 0 <= length <= BODY_MAX:
            raise Broken(f"a body that claims {length} bytes")
        return zstandard.ZstdDecompressor().decompress(body)
    except zstandard.ZstdError as problem:
        raise Broken(f"a body that is no zstd: {problem}") from problem


def unpack(kind, body):
    name, fields = KINDS[kind]
    by_key = msgpack.unpackb(body, raw=True, strict_map_key=False)
    if not isinstance(by_key, dict):
        raise Broken(f"{name}: the body is not a map")
    return name, {field: text(by_key.get(key)) for key, field in enumerate(fields)}


class Tree:
    """The call tree of one class."""

    def __init__(self):
        self.nodes = {0: (None, 0, 0, 0)}
        self.sites = {}
        self.header = {}

    def apply(self, fields, known_frames):
        for node, parent, frame, line, block, *_ in fields["nodes"] or ():
            if not parent < node:
                raise Broken(f"node {node} comes before its parent")
            if parent not in self.nodes:
                raise Broken(f"node {node} hangs under a node that nobody sent")
            if frame >= FRAME_FIRST and frame not in known_frames:
                raise Broken(f"node {node} is on a frame that nobody sent")
            self.nodes[node] = (parent, frame, line, block)
        for node, shift, live, allocated, bytes_, *ages in fields["sites"] or ():
            if node not in self.nodes:
                raise Broken(f"a site on node {node}, which nobody sent")
            self.sites[node, shift] = dict(zip(SITE, (live, allocated, bytes_, ages[:4])))
        self.header = {key: fields[key] for key in fields if key not in ("nodes", "sites")}

    def live(self):
        """Of the class, as its parts add up: equal to the header's."""
        sites = sum(site["live"] for site in self.sites.values())
        return sites + self.header["unsampled_live"]

    def as_json(self):
        return {**self.header,
                "nodes": {node: self.nodes[node] for node in self.nodes if node},
                "sites": [{"node": node, "shift": shift, **site}
                          for (node, shift), site in sorted(self.sites.items())]}

    def as_text(self, frames):
        """Callers first, each line with its own live objects, not its children's."""
        children = {}
        for node in sorted(self.nodes):
            children.setdefault(self.nodes[node][0], []).append(node)
        lines = [f"{self.header['live']} live, {self.header['unsampled_live']} of them "
                 f"without a stack"]
        stack = [(node, 1) for node in reversed(children.get(0, ()))]
        while stack:
            node, depth = stack.pop()
            own = sum(site["live"] << shift
                      for (at, shift), site in self.sites.items() if at == node)
            lines.append("  " * depth + f"{own} {self.label(node, frames)}")
            stack += [(child, depth + 1) for child in reversed(children.get(node, ()))]
        return "\n".join(lines)

    def label(self, node, frames):
        _, frame, line, block = self.nodes[node]
        if frame in SPECIAL:
            return SPECIAL[frame]
        name, path, _, _ = frames[frame]
        inside = {0: "", 1: "block in "}.get(block, f"block ({block} levels) in ")
        # Names are the program's and go to a terminal.
        place = f" {path}:{line}" if path else ""
        return ascii(inside + name + place)[1:-1]


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
        self.frames = {}
        self.trees = {}
        self.verdicts = {}
        self.tags = {}
        self.marks = {}
        self.gaps = []
        self.keys = []
        self.left = {}

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
            if fields["mode"] == 0:  # ids given before mean nothing
                self.names, self.frames, self.trees, self.verdicts = {}, {}, {}, {}
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

    def on_frames(self, fields):
        for frame, flags, label, path, line, *_ in fields["list"] or ():
            self.frames[frame] = (text(label), text(path), line, flags)

    def on_tree(self, fields):
        class_id = fields["class_id"]
        if fields["key"]:
            self.trees[class_id] = Tree()
        elif class_id not in self.trees:
            raise Broken(f"a change of the tree of {class_id} came before any tree")
        self.trees[class_id].apply(fields, self.frames)

    def on_verdicts(self, fields):
        for class_id, verdict, *rest in fields["list"] or ():
            known = verdict < len(VERDICTS)
            self.verdicts[class_id] = {"verdict": VERDICTS[verdict] if known else "",
                                       "ages": rest[:4], "reason": text(rest[4])}

    def on_tags(self, fields):
        if fields["key"]:
            self.tags = {}
        for tag, name, *_ in fields["names"] or ():
            pairs = dict(line.split("=", 1) for line in text(name).split("\n") if "=" in line)
            self.tags[tag] = {"keys": pairs, "classes": {}}
        for tag, *rest in fields["rows"] or ():
            if tag not in self.tags:
                raise Broken(f"tag {tag} is counted before it is named")
            self.tags[tag] |= {**dict(zip(TAG, rest)), "ages": rest[len(TAG):len(TAG) + 4]}
        for tag, class_id, allocated, live, size, *ages in fields["classes"] or ():
            self.tags[tag]["classes"][class_id] = [allocated, live, size, ages[:4]]

    def on_notice(self, fields):
        self.notices[fields["id"]] = fields
        if not fields["text"]:
            del self.notices[fields["id"]]

    def on_result(self, fields):
        self.results.append(fields)

    def on_bye(self, fields):
        self.bye = fields

    def on_mark(self, fields):
        rows = {class_id: dict(zip(("live", "bytes"), counts))
                for class_id, *counts in fields["rows"] or ()}
        self.marks[LETTERS.get(fields["letter"], "?")] = {**fields, "rows": rows}

    def on_gap(self, fields):
        self.gaps.append(fields)

    def on_key(self, fields):
        self.keys.append(fields)

    def on_left(self, fields):
        for class_id, former_id, gone_us, *_ in fields["list"] or ():
            self.left[class_id] = {"former_id": former_id, "gone_us": gone_us}

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
            "frames": self.frames,
            "trees": {class_id: tree.as_json() for class_id, tree in self.trees.items()},
            "verdicts": self.verdicts,
            "tags": self.tags,
            "marks": self.marks,
            "gaps": self.gaps,
            "keys": self.keys,
            "left": self.left,
        }

    def id_of(self, name):
        """Of the class with most objects, where several have the name."""
        found = [class_id for class_id in self.rows if self.names[class_id][0] == name]
        return max(found, key=lambda class_id: self.rows[class_id]["live"] or 0,
                   default=None)

    def whole(self, class_id):
        """Whether a tree came and says the same as the table."""
        tree = self.trees.get(class_id)
        return (tree is not None and tree.live() == tree.header["live"] and
                self.rows[class_id]["live"] == tree.header["live"])

    def classes(self):
        """Two classes may have one name: anonymous ones, above all."""
        found = {}
        for class_id, counts in self.rows.items():
            name = self.names[class_id][0]
            found[f"{name}#{class_id}" if name in found else name] = counts
        return found


def packed(kind, *values):
    body = msgpack.packb(dict(enumerate(values)))
    monotonic, wall = time.monotonic_ns() // 1000, time.time_ns() // 1000
    header = HEADER.pack(b"MTOP", len(body), kind, 0, 0, 0, monotonic, wall)
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
        connection.sendall(packed(64, VERSION, "client.py"))
        opened = None
        try:
            for name, fields in frames(read_exactly(connection, deadline)):
                state.apply(name, fields)
                if options.samples and state.samples >= options.samples:
                    return
                if options.open and opened is None and name == "sample":
                    opened = state.id_of(options.open)
                    if opened is not None:
                        connection.sendall(packed(65, 1, OPEN, opened))
                if opened is not None and name == "tree" and enough(state, opened):
                    return
        except TimeoutError:
            pass


def enough(state, class_id):
    """A path was seen, and not only what was born before tracing."""
    paths = any(node >= FRAME_FIRST for node, _ in state.trees[class_id].sites)
    return paths and state.whole(class_id)


def print_tree(state, name):
    class_id = state.id_of(name)
    if class_id not in state.trees:
        refused = [result["text"] for result in state.results if result["status"]]
        print(f"client.py: no tree of {name}: {refused or 'none came'}", file=sys.stderr)
        sys.exit(1)
    print(state.trees[class_id].as_text(state.frames))


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
    parser.add_argument("--open", metavar="CLASS", help="print the tree of this class")
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
    if options.open:
        print_tree(state, options.open)
        return
    json.dump(state.as_json(), sys.stdout)
    print()


if __name__ == "__main__":
    main()
