#!/usr/bin/python3
"""A recording of ours, read by the client that shares no code with us:
client_test.py WRITER CLIENT, the write_story program and client.py."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

CLIENT = sys.argv.pop(2)
WRITER = sys.argv.pop(1)


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "story.mtop")
        told = subprocess.run([WRITER, self.path], check=True, capture_output=True)
        self.live, self.allocated = map(int, told.stdout.split())

    def read(self):
        return subprocess.run([sys.executable, CLIENT, "--file", self.path],
                              capture_output=True, text=True)

    def test_reads_a_recording_to_its_end(self):
        done = self.read()
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = json.loads(done.stdout)
        self.assertEqual(seen["hello"]["command"], "ruby app.rb")
        self.assertEqual(len(seen["classes"]), 200)
        self.assertEqual(seen["totals"]["live"], self.live)
        self.assertEqual(sum(row["live"] for row in seen["classes"].values()), self.live)
        last = seen["classes"][seen["names"]["200"]]
        self.assertEqual(last["allocated"], self.allocated)
        self.assertEqual([gap["reason"] for gap in seen["gaps"]], [4])
        # Three groups: where nothing was known, after a second, and a minute later
        self.assertEqual([key["begin"] for key in seen["keys"]], [True, False] * 3)
        self.assertEqual([key["ordinal"] for key in seen["keys"]], [1, 1, 2, 2, 3, 3])
        self.assertEqual(seen["samples"], 90 + 2)
        with open(self.path, "rb") as file:
            frames = file.read().split(b"MTOP")
        self.assertTrue(any(frame[5:6] == b"\x01" for frame in frames))  # compressed

    def test_refuses_a_damaged_one(self):
        with open(self.path, "rb") as file:
            content = bytearray(file.read())
        content[-40] ^= 1
        with open(self.path, "wb") as file:
            file.write(content)
        self.assertEqual(self.read().returncode, 4)


if __name__ == "__main__":
    unittest.main()
