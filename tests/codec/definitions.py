# SPDX-License-Identifier: Apache-2.0
"""Compares our field tables with the message definitions inside the kafka-clients jar.

usage: definitions.py DUMP_TABLES

The jar is $REGROUP_KAFKA_CLIENTS_JAR, or one that lies in the cache; with REQUIRE_BROKER=1 it is fetched, and not
having it is a failure. Otherwise the test is skipped (77).
"""
import glob
import json
import os
import re
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION = os.environ.get("KAFKA_VERSION", "4.1.2")
SCALARS = {"bool", "int8", "int16", "int32", "int64", "uuid", "string", "bytes"}


def find_jar():
    named = os.environ.get("REGROUP_KAFKA_CLIENTS_JAR")
    if named:
        return named
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "regroup")
    found = sorted(glob.glob(os.path.join(cache, "**", f"kafka-clients-{VERSION}.jar"), recursive=True))
    found = [path for path in found if zipfile.is_zipfile(path)]
    if found:
        return found[0]
    if os.environ.get("REQUIRE_BROKER") == "1":
        maven = os.path.join(HERE, "..", "lib", "maven.sh")
        run = subprocess.run(["sh", "-c", '. "$1"; kafka_clients_jar', "sh", maven], stdout=subprocess.PIPE, text=True)
        if run.returncode == 0:
            return run.stdout.strip()
        sys.exit("FAILED: no kafka-clients jar, and it could not be fetched")
    print(f"SKIPPED: no kafka-clients-{VERSION}.jar in {cache} and REGROUP_KAFKA_CLIENTS_JAR is not set; "
          "tests/codec/vectors/make.sh fetches it", file=sys.stderr)
    sys.exit(77)


def versions(text, among):
    """The versions among these that a range such as "0+", "2-7", "3" or "none" has."""
    if text is None or text == "none":
        return []
    ends = re.fullmatch(r"(\d+)(?:(\+)|-(\d+))?", text)
    first = int(ends[1])
    last = max(among, default=0) if ends[2] else int(ends[3] or first)
    return [v for v in among if first <= v <= last]


def default_of(field):
    """A definition's default in the form of our tables: 0 and -1 for empty and null of what has a length."""
    value, kind = field.get("default"), field["type"]
    if kind.startswith("[]") or kind in ("string", "bytes"):
        return {None: 0, "": 0, "null": -1}[value]
    if kind == "bool":
        return {None: 0, "false": 0, "true": 1}[str(value).lower() if value is not None else None]
    if kind == "uuid":
        return 0
    return int(value or 0)


class Comparison:
    def __init__(self):
        self.faults = []
        self.fields = 0

    def same(self, where, what, ours, kafkas):
        if ours != kafkas:
            self.faults.append(f"{where}: {what} is {ours!r}, Kafka's {kafkas!r}")

    def table(self, where, ours, kafkas, among):
        kafkas = [field for field in kafkas if versions(field["versions"], among)]
        self.same(where, "the list of fields", [f["name"] for f in ours], [f["name"] for f in kafkas])
        for our, kafka in zip(ours, kafkas):
            self.field(f"{where}.{our['name']}", our, kafka, among)

    def field(self, where, our, kafka, among):
        self.fields += 1
        present = versions(kafka["versions"], among)
        self.same(where, "present in", [v for v in among if our["first"] <= v <= our["last"]], present)
        nullable = [v for v in present if our["nullable"] and v >= our["nullable_first"]]
        self.same(where, "nullable in", nullable, versions(kafka.get("nullableVersions"), present))
        self.same(where, "tagged in", present if our["tagged"] else [], versions(kafka.get("taggedVersions"), present))
        if our["tagged"]:
            self.same(where, "tag", our["tag"], kafka.get("tag"))
        self.same(where, "ignorable", our["ignorable"], str(kafka.get("ignorable", False)).lower() == "true")
        self.same(where, "default", our["fallback"], default_of(kafka))
        self.same(where, "plain string", our["plain_string"], kafka.get("flexibleVersions") == "none")
        kind = our["type"]
        if kind == "array":
            kind = "[]" + (our["struct"] if our["element"] == "struct" else our["element"])
        self.same(where, "type", kind, kafka["type"])
        if our.get("fields") is not None:
            self.table(where, our["fields"], kafka["fields"], present)

    def message(self, our, kafka):
        name, among = our["name"], list(range(our["first"], our["last"] + 1))
        self.same(name, "versions, of which all must be Kafka's,", among, versions(kafka["validVersions"], among))
        flexible = [v for v in among if v >= our["flexible_first"]]
        self.same(name, "flexible in", flexible, versions(kafka["flexibleVersions"], among))
        if our["api_key"] >= 0:
            self.same(name, "API key", our["api_key"], kafka.get("apiKey"))
        self.table(name, our["fields"], kafka["fields"], among)


def main():
    jar = find_jar()
    ours = json.loads(subprocess.run([sys.argv[1]], stdout=subprocess.PIPE, check=True, text=True).stdout)
    comparison = Comparison()
    with zipfile.ZipFile(jar) as archive:
        for our in ours:
            text = archive.read(f"common/message/{our['name']}.json").decode()
            text = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("//"))
            comparison.message(our, json.loads(text))
    for fault in comparison.faults:
        print(fault, file=sys.stderr)
    print(f"{len(ours)} messages and {comparison.fields} fields compared with {os.path.basename(jar)}, "
          f"{len(comparison.faults)} differences")
    if comparison.faults or not comparison.fields:
        sys.exit(1)


main()
