#!/usr/bin/python3
"""client.py against frames that the C encoder wrote: client_test.py WRITER, the
path of the write_examples program."""
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client.py")
WRITER = sys.argv.pop(1)


def stream(*options):
    return subprocess.run([WRITER, *options], check=True, capture_output=True).stdout


def client(*arguments):
    return subprocess.run([sys.executable, CLIENT, *arguments], capture_output=True,
                          text=True)


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "s")

    def read(self, content):
        with open(self.path, "wb") as file:
            file.write(content)
        return client("--file", self.path)

    def check(self, seen):
        self.assertEqual(seen["hello"]["command"], "ruby app.rb")
        self.assertEqual(seen["hello"]["started_us"], 1767225600000000)
        self.assertEqual(seen["names"], {"1": "String", "2": "(iseq)", "3": ""})
        self.assertEqual(seen["flags"], {"1": 0, "2": 1, "3": 2})
        self.assertEqual((seen["samples"], seen["key_samples"]), (2, 1))
        self.assertEqual(seen["classes"], {
            "String": {"live": 1250, "allocated": 1600, "freed": 350, "bytes": 48000},
            "(iseq)": {"live": 80, "allocated": 0, "freed": 0, "bytes": None}})
        self.assertEqual(seen["totals"], {"live": 1330, "allocated": 1600,
                                          "freed": 350, "bytes": None})
        self.assertEqual(seen["process"]["gc_count"], 13)
        self.assertEqual(seen["probe"]["cost_ppm"], 12500)
        self.assertEqual(seen["notices"],
                         [{"id": 7, "severity": 1, "text": "objspace is tracing"}])
        self.assertEqual(seen["results"], [{"id": 1, "status": 1, "text": "read-only"}])
        self.assertEqual(seen["bye"], {"reason": 0, "status": 0, "text": ""})
        self.check_tree(seen["trees"]["1"])
        self.assertEqual(seen["frames"]["16"],
                         ["Shop::Order#total", "app/order.rb", 20, 0])
        self.assertEqual(seen["verdicts"], {
            "1": {"verdict": "leak?", "ages": [100, 200, 300, 400],
                  "reason": "grew in 12 collections"},
            "2": {"verdict": "", "ages": [None] * 4, "reason": ""}})
        self.assertEqual(seen["tags"], {
            "2": {"keys": {"route": "orders#show"}, "calls": 120, "active": 1,
                  "allocated": 4800, "freed": 4550, "live": 250, "bytes": 10000,
                  "ages": [50, 100, 60, 40], "classes": {"1": [3000, 200, 8000, [20, 90, 50, 40]]}},
            "3": {"keys": {"job": "Mailer", "tenant": "acme"}, "calls": 7, "active": 0,
                  "allocated": 90, "freed": 90, "live": None, "bytes": None,
                  "ages": [None] * 4, "classes": {}}})

        self.check_recorded(seen)

    def check_recorded(self, seen):
        mark = seen["marks"]["A"]
        self.assertEqual((mark["live"], mark["bytes"], mark["at_wall_us"]),
                         (1287, None, 1767225605000200))
        self.assertEqual(mark["rows"], {"1": {"live": 1200, "bytes": 48000},
                                        "2": {"live": 80, "bytes": None}})
        self.assertEqual(mark["places"], [[1, 0, 1200.0, 48000.0], [1, 18, 160.5, None]])
        self.assertEqual(seen["gaps"], [{"reason": 2, "text": "pid 4243 took its place"}])
        self.assertEqual([(key["begin"], key["previous"], key["ordinal"], key["live"])
                          for key in seen["keys"]],
                         [(True, 61234, 2, 1330), (False, 22222, 2, 1330)])
        self.assertEqual(seen["left"], {"3": {"former_id": None, "gone_us": 8500000},
                                        "4294967295": {"former_id": 3, "gone_us": None}})

    def check_tree(self, tree):
        self.assertEqual((tree["live"], tree["flags"], tree["shift"]), (1255, 1, 3))
        self.assertEqual(tree["nodes"], {"1": [0, 1, 0, 0], "16": [0, 16, 22, 0],
                                         "17": [16, 17, 0, 0], "18": [17, 16, 23, 1]})
        self.assertEqual([(site["node"], site["shift"], site["live"], site["ages"])
                          for site in tree["sites"]],
                         [(1, 0, 900, [100, 200, 300, 400]), (17, 0, 0, [0] * 4),
                          (18, 3, 25, [None] * 4)])

    def test_prints_a_tree(self):
        with open(self.path, "wb") as file:
            file.write(stream())
        done = client("--file", self.path, "--open", "String")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(), [
            "1255 live, 330 of them without a stack",
            "  900 (before tracing)",
            "  0 Shop::Order#total app/order.rb:22",
            "    0 Array#map",
            "      200 block in Shop::Order#total app/order.rb:23"])
        done = client("--file", self.path, "--open", "Nobody")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no tree of Nobody", done.stderr)

    def test_understands_what_the_encoder_wrote(self):
        done = self.read(stream())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check(json.loads(done.stdout))

    def test_refuses_a_truncated_and_a_damaged_stream(self):
        whole = stream()
        damaged = bytearray(whole)
        damaged[40] ^= 1
        for content, words in ((whole[:-1], "ends inside"), (damaged, "CRC")):
            done = self.read(bytes(content))
            self.assertEqual(done.returncode, 4)
            self.assertIn(words, done.stderr)

    def test_greets_a_socket_and_reads_until_it_closes(self):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(listener.close)
        listener.bind(self.path)
        listener.listen()
        heard = []

        def serve():
            peer, _ = listener.accept()
            with peer:
                peer.sendall(stream())
                heard.append(peer.recv(4096))

        probe = threading.Thread(target=serve)
        probe.start()
        done = client(self.path, "--seconds", "30")
        probe.join()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check(json.loads(done.stdout))
        self.assertEqual(heard[0][:4] + heard[0][8:9], b"MTOP\x40")

    def test_asks_for_the_tree_of_a_class(self):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(listener.close)
        listener.bind(self.path)
        listener.listen()
        heard = bytearray()
        wanted = stream("--viewer")[-39:]  # the last of them opens class 1

        def serve():
            peer, _ = listener.accept()
            # It leaves as soon as it has the tree, whatever else was sent.
            with peer, contextlib.suppress(ConnectionResetError):
                peer.sendall(stream())
                while piece := peer.recv(4096):
                    heard.extend(piece)

        probe = threading.Thread(target=serve)
        probe.start()
        done = client(self.path, "--seconds", "30", "--open", "String")
        probe.join()
        self.assertIn("block in Shop::Order#total", done.stdout, done.stderr)
        request = bytes(heard[-39:])
        self.assertEqual(request[8], wanted[8])
        self.assertEqual(request[34:], b"\x01" + wanted[35:])  # but for its id


if __name__ == "__main__":
    unittest.main()
