#!/usr/bin/python3
"""What memtop exports, read by other people's programs: Python's csv and json,
speedscope's schema, Google's protobuf. read_back_test.py WRITER SCHEMA: the path of
the write_formats program, and of speedscope's schema."""
import collections
import csv
import functools
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import jsonschema
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SCHEMA = sys.argv.pop(2)
WRITER = sys.argv.pop(1)
MODELS = ("mixed", "empty", "exact", "sampled", "beyond", "noise", "even", "odd")
FOLDER = tempfile.TemporaryDirectory()
FORMULA = "=+-@\t\r"

# https://github.com/google/pprof/blob/main/proto/profile.proto, typed in here once
# more so that a wrong number in ours is found: message, then number, name, type.
PPROF = """
Profile 1 sample_type *ValueType; 2 sample *Sample; 3 mapping *Mapping;
    4 location *Location; 5 function *Function; 6 string_table *string;
    7 drop_frames int64; 8 keep_frames int64; 9 time_nanos int64;
    10 duration_nanos int64; 11 period_type ValueType; 12 period int64;
    13 comment *int64; 14 default_sample_type int64
ValueType 1 type int64; 2 unit int64
Sample 1 location_id *uint64; 2 value *int64; 3 label *Label
Label 1 key int64; 2 str int64; 3 num int64; 4 num_unit int64
Mapping 1 id uint64; 2 memory_start uint64; 3 memory_limit uint64;
    4 file_offset uint64; 5 filename int64; 6 build_id int64; 7 has_functions bool;
    8 has_filenames bool; 9 has_line_numbers bool; 10 has_inline_frames bool
Location 1 id uint64; 2 mapping_id uint64; 3 address uint64; 4 line *Line;
    5 is_folded bool
Line 1 function_id uint64; 2 line int64
Function 1 id uint64; 2 name int64; 3 system_name int64; 4 filename int64;
    5 start_line int64
"""


def pprof_class():
    """The class of messages Profile."""
    types = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="p", package="p", syntax="proto3")
    for words in re.findall(r"^\w[^\n]*(?:\n +[^\n]*)*", PPROF, re.M):
        name, fields = words.split(None, 1)
        message = file.message_type.add(name=name)
        for field in fields.split(";"):
            number, name, kind = field.split()
            added = message.field.add(name=name, number=int(number))
            added.label = types.LABEL_REPEATED if kind[0] == "*" else types.LABEL_OPTIONAL
            kind = kind.lstrip("*")
            if kind[0].isupper():
                added.type, added.type_name = types.TYPE_MESSAGE, ".p." + kind
            else:
                added.type = getattr(types, "TYPE_" + kind.upper())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(
        pool.FindMessageTypeByName("p.Profile"))


PROFILE = pprof_class()


def read(model, suffix):
    with open(os.path.join(FOLDER.name, model + "." + suffix), "rb") as file:
        return file.read()


def expected(model):
    return json.loads(read(model, "expected"))


def traced(model, figure):
    """A figure of each class that has a tree, without those that nobody knows."""
    return {name: known["tree"][figure] for name, known in expected(model).items()
            if known.get("tree") and known["tree"][figure] is not None}


def sums(pairs):
    """Of (class, figure) pairs; None counts nothing, and a class with only such has
    no sum."""
    added = collections.defaultdict(int)
    for name, value in pairs:
        if value is not None:
            added[name] += value
    return dict(added)


def table(model, suffix):
    text = read(model, suffix).decode("utf-8")
    return list(csv.DictReader(text.splitlines(keepends=True), strict=True))


def plain(text):
    """Without what keeps a spreadsheet from running it."""
    return text[1:] if text.startswith("'") else text


def number(text):
    return int(text) if text else None


def each_model(test):
    """Run a test for each model, and say which one it failed for."""
    @functools.wraps(test)
    def tests(self):
        for model in MODELS:
            with self.subTest(model):
                test(self, model)
    return tests


class Csv(unittest.TestCase):
    @each_model
    def test_every_class_has_its_figures_and_unknown_ones_are_empty(self, model):
        seen = {plain(row["name"]): row for row in table(model, "csv")}
        known = expected(model)
        self.assertEqual(set(seen), set(known))
        for name, row in seen.items():
            for figure in ("live", "allocated", "freed", "bytes"):
                value = number(row[figure])
                if value is not None and value >= 2**63:
                    value = None  # exact here, beyond what JSON is trusted with
                self.assertEqual(value, known[name][figure], (name, figure))
            self.assertEqual(row["verdict"] or None, known[name]["verdict"])
            self.assertEqual(row["internal"], str(known[name]["internal"]).lower())

    @each_model
    def test_paths_add_up_to_their_class(self, model):
        rows = table(model, "csv-paths")
        for figure in ("live", "allocated", "bytes"):
            self.assertEqual(
                sums((plain(row["class"]), number(row[figure])) for row in rows),
                traced(model, figure), figure)

    @each_model
    def test_the_last_frame_of_a_stack_is_the_one_of_the_label(self, model):
        for row in table(model, "csv-paths"):
            last = plain(row["stack"]).split(";")[-1]
            self.assertEqual(last, plain(row["label"]).replace(";", ":"))

    @each_model
    def test_no_cell_is_a_formula(self, model):
        for suffix in ("csv", "csv-paths"):
            for row in table(model, suffix):
                for cell in row.values():
                    self.assertFalse(cell and cell[0] in FORMULA, cell)

    @each_model
    def test_every_line_ends_as_the_standard_says(self, model):
        text = read(model, "csv-paths")
        self.assertTrue(text.endswith(b"\r\n"))
        self.assertEqual(text.count(b"\n"), text.count(b"\r\n"))


class JsonLines(unittest.TestCase):
    def lines(self, model, kind):
        return [line for line in map(json.loads, read(model, "json").splitlines())
                if line["kind"] == kind]

    @each_model
    def test_every_class_has_its_figures(self, model):
        seen = {line["name"]: line for line in self.lines(model, "class")}
        known = expected(model)
        self.assertEqual(set(seen), set(known))
        for name, line in seen.items():
            for figure, value in known[name].items():
                if figure != "tree":
                    self.assertEqual(line[figure], value, (name, figure))

    @each_model
    def test_paths_add_up_to_their_class(self, model):
        lines = self.lines(model, "path")
        for figure in ("live", "allocated", "bytes"):
            self.assertEqual(sums((line["class"], line[figure]) for line in lines),
                             traced(model, figure), figure)

    @each_model
    def test_classes_come_before_paths(self, model):
        kinds = [json.loads(line)["kind"] for line in read(model, "json").splitlines()]
        self.assertEqual(kinds, sorted(kinds))


class Folded(unittest.TestCase):
    @each_model
    def test_counts_add_up_to_their_class(self, model):
        # as flamegraph.pl takes a line apart
        line = re.compile(r"^(.*)\s+?(\d+(?:\.\d*)?)$")
        known = {name.replace(";", ":").replace(" ", "_"): live
                 for name, live in traced(model, "live").items()}
        pairs = []
        for text in read(model, "folded").decode("utf-8").splitlines():
            stack, count = line.match(text).groups()
            self.assertIsNone(line.match(stack), "two counts")
            pairs.append((stack.split(";")[0], int(count)))
        self.assertEqual(sums(pairs), known)


class Speedscope(unittest.TestCase):
    @each_model
    def test_keeps_to_speedscopes_schema(self, model):
        with open(SCHEMA, encoding="utf-8") as file:
            schema = json.load(file)
        jsonschema.Draft7Validator.check_schema(schema)
        jsonschema.validate(json.loads(read(model, "speedscope")), schema,
                            cls=jsonschema.Draft7Validator)

    def test_the_schema_would_find_a_mistake(self):
        with open(SCHEMA, encoding="utf-8") as file:
            schema = json.load(file)
        document = json.loads(read("mixed", "speedscope"))
        document["profiles"][0]["unit"] = "objects"
        with self.assertRaises(jsonschema.ValidationError):
            jsonschema.validate(document, schema, cls=jsonschema.Draft7Validator)

    @each_model
    def test_weights_add_up_and_every_frame_exists(self, model):
        document = json.loads(read(model, "speedscope"))
        frames = document["shared"]["frames"]
        wanted = {"none": traced(model, "live"), "bytes": traced(model, "bytes")}
        seen = {"none": {}, "bytes": {}}
        for profile in document["profiles"]:
            name = re.split(": (?:live objects|bytes)", profile["name"])[0]
            self.assertEqual(len(profile["samples"]), len(profile["weights"]))
            self.assertEqual(sum(profile["weights"]), profile["endValue"])
            if profile["weights"]:
                seen[profile["unit"]][name] = profile["endValue"]
            for stack in profile["samples"]:
                self.assertTrue(stack and 0 <= min(stack) <= max(stack) < len(frames))
        self.assertEqual(seen, wanted)


class Pprof(unittest.TestCase):
    def profile(self, model):
        return PROFILE.FromString(gzip.decompress(read(model, "pprof")))

    def columns(self, profile):
        text = profile.string_table
        return [(text[kind.type], text[kind.unit]) for kind in profile.sample_type]

    def labels(self, profile, sample):
        text = profile.string_table
        return {text[label.key]: text[label.str] for label in sample.label}

    @each_model
    def test_samples_add_up_to_their_class(self, model):
        figures = {"live_objects": "live", "live_bytes": "bytes",
                   "allocated_objects": "allocated"}
        profile = self.profile(model)
        for column, (name, _) in enumerate(self.columns(profile)):
            pairs = []
            for sample in profile.sample:
                labels = self.labels(profile, sample)
                value = sample.value[column]
                if labels.get(name) == "unknown":
                    self.assertEqual(value, 0)
                    value = None
                pairs.append((labels["class"], value))
            self.assertEqual(sums(pairs), traced(model, figures[name]), name)

    @each_model
    def test_bytes_are_a_column_only_where_anybody_knows_them(self, model):
        known = any(traced(model, "bytes").values())
        columns = [("live_objects", "count"), ("live_bytes", "bytes"),
                   ("allocated_objects", "count")]
        self.assertEqual(self.columns(self.profile(model)),
                         columns if known else columns[::2])

    @each_model
    def test_keeps_to_the_rules_of_the_format(self, model):
        profile = self.profile(model)
        self.assertEqual(profile.string_table[0], "")
        self.assertEqual(len(set(profile.string_table)), len(profile.string_table))
        functions = {function.id for function in profile.function}
        locations = {location.id for location in profile.location}
        mappings = {mapping.id for mapping in profile.mapping}
        self.assertEqual(len(functions), len(profile.function))
        self.assertEqual(len(locations), len(profile.location))
        self.assertFalse(0 in functions | locations | mappings)
        for location in profile.location:
            self.assertIn(location.mapping_id, mappings)
            self.assertTrue({line.function_id for line in location.line} <= functions)
        for sample in profile.sample:
            self.assertEqual(len(sample.value), len(profile.sample_type))
            self.assertTrue(sample.location_id)
            self.assertTrue(set(sample.location_id) <= locations)

    def test_a_stack_begins_with_the_innermost_frame(self):
        profile = self.profile("mixed")
        text = profile.string_table
        names = {function.id: text[function.name] for function in profile.function}
        files = {function.id: text[function.filename] for function in profile.function}
        lines = {place.id: place.line[0] for place in profile.location}
        stacks = [[(names[lines[place].function_id], files[lines[place].function_id],
                    lines[place].line) for place in sample.location_id]
                  for sample in profile.sample]
        self.assertIn([("Hash#fetch", "", 0), ("block in Cart#add", "/srv/cart.rb", 12),
                       ("<main>", "/srv/app.rb", 5)], stacks)

    def test_says_whose_it_is_and_when(self):
        profile = self.profile("mixed")
        text = profile.string_table
        comments = "\n".join(text[comment] for comment in profile.comment)
        self.assertEqual(profile.time_nanos, 1767225610 * 10**9)
        self.assertEqual(profile.duration_nanos, 9 * 10**9)
        self.assertEqual(profile.period, 8)
        self.assertEqual(text[profile.period_type.type], "allocated_objects")
        self.assertEqual(text[profile.default_sample_type], "live_objects")
        self.assertIn("process 4120: ruby /srv/app.rb", comments)
        self.assertIn("ruby 3.1.2, at 2026-01-01T00:00:10Z", comments)
        self.assertIn("bytes of 1030 objects are not known", comments)
        self.assertIn("left out: 1 paths", "\n".join(
            self.profile("beyond").string_table))


if __name__ == "__main__":
    with FOLDER:
        subprocess.run([WRITER, FOLDER.name], check=True)
        unittest.main()
