#!/usr/bin/python3
"""client.py against frames that the C encoder wrote: client_test.py WRITER, the
path of the write_examples program."""
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


if __name__ == "__main__":
    unittest.main()
