#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chooses which source files are compiled together, as one, because that takes less time.

usage: unity_groups.py ROOT... < LIST      includes in quotes are rooted there
       unity_groups.py --self-test

LIST has a target and a file on each line. What is printed has a target, a number and a file on each line:
those with the same number are a group. Files that are to be compiled alone are left out. The same files
always give the same groups.

A file that is compiled behind another sees its text and its headers, so a group has only files that do not
notice. What a file keeps to itself are the names it declares and none of its headers does. A file fits
behind another when

  - no word in it, or in a header that only it reads, is a name that the other keeps to itself,
  - no word in it is declared by the other's headers alone, in a namespace that both are in, and
  - nothing that it keeps to itself is declared by the other's headers alone.

Aliases that both have do not count. Names after `.`, `->` or `::` are no words in this sense: what they
mean is decided by what stands before. A word that is only a local variable keeps files apart all the same;
that costs little. Files with `using namespace`, with macros that outlive them, with names that the standard
library's functions have, or with text that cannot be followed are compiled alone.
"""

import functools
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

# As much as is compiled in half a minute at most: larger groups would leave cores idle. Sizes count in
# coarse steps, so that few changes of a file lead to other groups.
MAX_WEIGHT = 8
BYTES_PER_WEIGHT = 16_000

# What many files keep to themselves; the build makes these names differ (cmake/unity.cmake).
MADE_DIFFERENT = {"kRows"}

# Functions of the standard library that a call finds by the types of its arguments, once any file has read
# their header. (Those of headers that are precompiled for all files make no difference.)
FOUND_BY_ARGUMENTS = {
    "accumulate", "adjacent_difference", "apply", "async", "ceil", "floor", "getline", "inner_product",
    "iota", "lock", "partial_sum", "quoted", "reduce", "round", "transform_reduce", "visit"}

COMMENT_OR_LITERAL = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"([^()\\ ]*)\(.*?\)\1\"|\"(?:[^\"\\\n]|\\.)*\"|"
    r"(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)*'", re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)((?:\\\n|[^\n])*)", re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
LIBRARY = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+\.hpp)>", re.MULTILINE)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|\d[\w.']*|[^\s\w]")
WORD = re.compile(r"(?<![\w.])(?<!->)(?<!::)[A-Za-z_]\w*")
NAME = re.compile(r"[A-Za-z_]\w*")
OPENING = ("(", "[", "{")
CLOSING = (")", "]", "}")
TYPE_WORDS = ("struct", "class", "union", "enum")
WITH_ARGUMENTS = ("alignas", "decltype", "noexcept", "requires", "__attribute__", "static_assert")


# --- reading a file -------------------------------------------------------------------------------


def find_partners(tokens):
    """For every opening bracket's index that of the bracket that closes it."""
    partners = {}
    opened = []
    for index, token in enumerate(tokens):
        if token in OPENING:
            opened.append(index)
        elif token in CLOSING:
            partners[opened.pop()] = index
    return partners


def enclosing(namespace):
    """`a::b` -> ``, `a`, `a::b`"""
    parts = namespace.split("::") if namespace else []
    return ["::".join(parts[:count]) for count in range(len(parts) + 1)]


class Scan:
    """What a file has to do with others. It need not be right about all of C++, only about how this
    project is written: a name that is missed here may make a group that does not compile."""

    def __init__(self, text):
        self.includes = INCLUDE.findall(text)
        self.libraries = LIBRARY.findall(text)
        self.declared = defaultdict(set)  # namespace -> the names declared there
        self.hidden = set()               # names that are not for other files
        self.aliases = {}                 # name -> what it stands for, and where
        self.macros = set()               # those that are still defined at the end
        self.is_alone = False
        text = COMMENT_OR_LITERAL.sub(lambda found: " " if found[0][0] == "/" else ' "" ', text)
        self._read_directives(text)
        self.words = set(WORD.findall(text))
        self.tokens = TOKEN.findall(DIRECTIVE.sub("", text))
        try:
            self.partners = find_partners(self.tokens)
            self._read_scope(0, len(self.tokens), "", False)
        except (IndexError, KeyError, ValueError):
            self.is_alone = True

    def _read_directives(self, text):
        for kind, rest in DIRECTIVE.findall(text):
            name = NAME.search(rest)
            if kind == "define":
                self.macros.add(name[0])
                self.hidden.add(name[0])
            elif kind == "undef":
                self.macros.discard(name[0])

    def _declare(self, name, namespace, is_hidden):
        self.declared[namespace].add(name)
        if is_hidden:
            self.hidden.add(name)

    def _read_scope(self, index, end, namespace, is_hidden):
        """The declarations in a namespace's body."""
        self.declared[namespace]  # even if nothing is declared: this file is in that namespace
        while index < end:
            token = self.tokens[index]
            if token == "namespace":
                index = self._read_namespace(index, namespace, is_hidden)
            elif token == "using":
                index = self._read_using(index, namespace)
            elif token in (";", "}", "inline"):
                index += 1
            else:
                index = self._read_declaration(index, end, namespace, is_hidden)

    def _read_namespace(self, index, namespace, is_hidden):
        head = index + 1
        while self.tokens[index] not in ("{", "="):
            index += 1
        name = "".join(self.tokens[head:index])
        if self.tokens[index] == "=":
            return self._read_alias(name, head, namespace)
        end = self.partners[index]
        inner = f"{namespace}::{name}".strip(":") if name else namespace
        self._read_scope(index + 1, end, inner, is_hidden or not name)
        return end + 1

    def _read_alias(self, name, index, namespace):
        end = self.tokens.index(";", index)
        self._declare(name, namespace, True)
        self.aliases[name] = (namespace, *self.tokens[index:end])
        return end + 1

    def _read_using(self, index, namespace):
        """`using a::b;`, `using b = a;` or `using namespace a;`"""
        end = self.tokens.index(";", index)
        names = self.tokens[index + 1:end]
        if names[0] == "namespace":
            self.is_alone = True
            return end + 1
        return self._read_alias(names[0] if "=" in names else names[-1], index, namespace)

    def _read_declaration(self, index, end, namespace, is_hidden):
        """One declaration, of what stands before the first bracket or sign; returns where it ends."""
        tokens = self.tokens
        name = ""
        is_enum = False
        while index < end:
            token = tokens[index]
            if token == "template" and tokens[index + 1] == "<":
                index = self._closing_angle(index + 1)
            elif token == "<" and name:
                index = self._closing_angle(index)
            elif token in WITH_ARGUMENTS and tokens[index + 1] == "(":
                index = self.partners[index + 1]
            elif token == "[" and tokens[index + 1] == "[":
                index = self.partners[index]
            elif token == "static":
                is_hidden = True
            elif token == "enum":
                is_enum = tokens[index + 1] not in ("class", "struct")
            elif token == "operator":
                start = index
                index = tokens.index("(", index + (2 if tokens[index + 1] == "(" else 1))
                name = "".join(tokens[start:index])
                break
            elif token == "(" and name.isupper():  # TEST(...) { ... }
                name = ""
                break
            elif token in (";", "=", "(", "{", "[", ":", "}") and name:
                break
            elif NAME.match(token) and token not in TYPE_WORDS and token != "final":
                name = "::" if tokens[index - 1] == "::" else token  # `::`: declared elsewhere
            index += 1
        if name not in ("", "::"):
            self._declare(name, namespace, is_hidden)
        if is_enum:
            self._read_enumerators(index, namespace, is_hidden)
        return self._behind_declaration(index, end)

    def _closing_angle(self, index):
        """Where the template parameters or arguments end that begin at index."""
        depth = 0
        while self.tokens[index] != ";":
            if self.tokens[index] in OPENING:
                index = self.partners[index]
            depth += {"<": 1, ">": -1}.get(self.tokens[index], 0)
            if depth == 0:
                break
            index += 1
        return index

    def _read_enumerators(self, index, namespace, is_hidden):
        if self.tokens[index] == ";":
            return
        start = self.tokens.index("{", index)
        for token in self.tokens[start:self.partners[start]]:
            if NAME.match(token):
                self._declare(token, namespace, is_hidden)

    def _behind_declaration(self, index, end):
        """Behind the body of a function, or else the semicolon."""
        may_have_body = index < end and self.tokens[index] == "("
        while index < end and self.tokens[index] != ";":
            token = self.tokens[index]
            may_have_body = may_have_body and token != "="
            if token in OPENING:
                index = self.partners[index]
                if token == "{" and may_have_body:
                    return index + 1
            index += 1
        return index + 1


class Sources:
    """Scans of files, and what they include."""

    def __init__(self, roots):
        self.roots = roots
        self.scans = {}

    def scan(self, path):
        if path not in self.scans:
            self.scans[path] = Scan(path.read_text(encoding="utf-8"))
        return self.scans[path]

    def headers(self, path):
        """All files of the project that this one includes, directly or not."""
        found = set()
        pending = [path]
        while pending:
            current = pending.pop()
            for name in self.scan(current).includes:
                header = self.find(name, current.parent)
                if header and header not in found:
                    found.add(header)
                    pending.append(header)
        return sorted(found)

    @functools.cache
    def find(self, name, folder):
        return next((place / name for place in (*self.roots, folder) if (place / name).is_file()), None)


# --- grouping -------------------------------------------------------------------------------------


class File:
    """A source file as grouping sees it."""

    def __init__(self, sources, path, place):
        scan = sources.scan(path)
        self.path = path
        self.place = place  # a group's files are compiled in the order in which they are listed
        self.weight = 1 + path.stat().st_size // BYTES_PER_WEIGHT
        self.headers = {header: sources.scan(header) for header in sources.headers(path)}
        self.namespaces = {outer for inner in scan.declared for outer in enclosing(inner)}
        self.libraries = list(scan.libraries)
        self.aliases = {}
        self.seen = defaultdict(set)  # namespace -> what headers declare there
        for header in self.headers.values():
            for namespace, names in header.declared.items():
                self.seen[namespace] |= names
            self.aliases |= header.aliases
            self.libraries += header.libraries
        self.aliases |= scan.aliases
        self.seen_anywhere = set().union(*self.seen.values())
        declared = set().union(*scan.declared.values())
        self.own = (scan.hidden | (declared - self.seen_anywhere)) - MADE_DIFFERENT
        self.words = scan.words | self.own  # of the latter, operators are no words
        self.is_alone = (scan.is_alone or bool(scan.macros) or
                         not self.own.isdisjoint(FOUND_BY_ARGUMENTS))

    def disturbs(self, later):
        """Whether something in a later file would mean something else behind this one."""
        noticed = self.own & later.words
        noticed |= later.own & (self.seen_anywhere - later.seen_anywhere)
        for namespace in self.namespaces & later.namespaces:
            noticed |= later.words & (self.seen[namespace] - later.seen[namespace])
        unread = [header for path, header in later.headers.items() if path not in self.headers]
        return (self._differ(noticed, later.aliases) or
                any(self._differ(self.own & header.words, header.aliases) for header in unread))

    def _differ(self, names, aliases):
        """Whether any of the names is no alias, or one for something else there."""
        return any(name not in self.aliases or self.aliases[name] != aliases.get(name) for name in names)


def fits(group, file):
    return (sum(member.weight for member in group) + file.weight <= MAX_WEIGHT and
            not any(member.disturbs(file) if member.place < file.place else file.disturbs(member)
                    for member in group))


def group_files(files):
    """Each file joins the first group that it fits into; those that read a large library come first."""
    groups = []
    for file in sorted(files, key=lambda file: (not file.libraries, file.place)):
        if file.is_alone:
            continue
        group = next((group for group in groups if fits(group, file)), None)
        if group is None:
            groups.append([file])
        else:
            group.append(file)
    return [group for group in groups if len(group) > 1]


def print_groups(sources, lines):
    targets = defaultdict(list)  # file -> where it is compiled
    for line in lines:
        target, path = line.rstrip("\n").split(" ", 1)
        targets[Path(path)].append(target)
    files = defaultdict(list)
    for path, places in targets.items():
        if len(places) == 1:
            files[places[0]].append(File(sources, path, len(files[places[0]])))
    for target in sorted(files):
        for number, group in enumerate(group_files(files[target])):
            for file in group:
                print(f"{target} {number} {file.path}")


# --- self-test ------------------------------------------------------------------------------------

HEADERS = {
    "one.h": "#pragma once\nnamespace ww { void shared(int x); }\n",
    "two.h": "#pragma once\nnamespace ww { struct Late; int later(); }\n",
    "say.h": "#pragma once\nnamespace ww { enum class Say { Late, Soon }; }\n",
    "far.h": "#pragma once\nnamespace other { int remote(); }\n",
}

# what is tried, two files, whether they fit together
PAIRS = [
    ("nothing in common", "int f() { return 1; }", "int g() { return 2; }", True),
    ("a function", "namespace { int f() { return 1; } }", "namespace { int f() { return 2; } }", False),
    ("a function and an earlier word", "int g(int f);", "namespace { int f() { return 1; } }", True),
    ("a function and a call", "namespace { int f() { return 1; } }", "int g(int x) { return f(x); }", False),
    ("a function and a member", "namespace { int f(); }", "int g(S s) { return s.f(); }", True),
    ("a function and another's", "namespace { int f(); }", "int g() { return std::f(); }", True),
    ("a function in a comment", "namespace { int f(); }", "// f\nint g();", True),
    ("a function in a string", "namespace { int f(); }", 'const char* g() { return "f"; }', True),
    ("a function in a raw string", "namespace { int f(); }", 'auto g() { return R"(" f)"; }', True),
    ("behind a subscript", "namespace { int f() { return a[b[0]]; }\nint h(); }", "int h() {}", False),
    ("behind an attribute", "[[nodiscard]] static int f();", "int f(char) {}", False),
    ("behind digits", "int a = 1'000;\nstatic int f();", "int f(char) {}", False),
    ("a type", "namespace { struct T : U<int> { int x; }; }", "void g(T t);", False),
    ("a type's member", "namespace { struct T { int x; }; }", "int g(int x);", True),
    ("a constant", "constexpr std::array<int, 2> kA = {1, 2};", "int g() { return kA[0]; }", False),
    ("a table that every file has", "constexpr int kRows[] = {1};", "constexpr int kRows[] = {2};", True),
    ("an enumerator", "enum E : int { kOne };", "int g(int kOne);", False),
    ("a template", "template <class T> T f(T x) { return x; }", "int g() { return f(1); }", False),
    ("an operator", "bool operator<(A, A) { return 1; }", "bool operator<(A, A) { return 0; }", False),
    ("the same alias", "using a::B;\nB f();", "using a::B;\nB g();", True),
    ("another alias", "using a::B;\nB f();", "using c::B;\nB g();", False),
    ("the same macro, undone", "#define X 1\n#undef X", "int g();", True),
    ("a macro", "#define X 1", "int g();", False),
    ("using namespace", "using namespace a;", "int g();", False),
    ("a name of the standard library", "namespace { int quoted(std::string); }", "int g();", False),
    ("an open bracket", "namespace {", "int g();", False),
    ("test cases", "TEST(A, B) { int f; }", "TEST(A, C) { int f; }", True),
    ("exported and used", '#include "one.h"\nvoid ww::shared(int x) {}',
     '#include "one.h"\nnamespace ww { void g() { shared(1); } }', True),
    ("exported and own", '#include "one.h"\nnamespace ww { void shared(int x) {} }',
     "namespace ww { namespace { void shared(char x) {} } }", False),
    ("a header's name", '#include "two.h"\nnamespace ww { int f(); }',
     "namespace ww { int g(int later) { return later; } }", False),
    ("a later header's word", "namespace ww { namespace { struct x {}; } }",
     '#include "one.h"\nnamespace ww { int f(); }', False),
    ("an earlier header's word", '#include "one.h"\nnamespace ww { int f(); }',
     "namespace ww { namespace { struct x {}; } }", True),
    ("a header's name in a header", '#include "two.h"\nnamespace ww { int f(); }',
     '#include "say.h"\nnamespace ww { int g(); }', True),
    ("an alias and a header's word", "namespace ww { using a::Late; }",
     '#include "say.h"\nnamespace ww { using a::Late; }', False),
    ("a far header's name", '#include "far.h"\nnamespace ww { int f(); }',
     "namespace ww { int g(int remote) { return remote; } }", True),
    ("a far header's name, own", '#include "far.h"\nnamespace ww { int f(); }',
     "namespace ww { namespace { int remote(); } }", False),
]


def fit_together(folder, first, second):
    texts = {**HEADERS, "first.cpp": first, "second.cpp": second}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    sources = Sources([folder])
    names = ("first.cpp", "second.cpp")
    return bool(group_files([File(sources, folder / name, place) for place, name in enumerate(names)]))


def self_test():
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        for title, first, second, expected in PAIRS:
            if fit_together(Path(name), first, second) != expected:
                print(f"self-test: {title}: expected {'one group' if expected else 'no group'}")
                wrong += 1
    print(f"self-test: {len(PAIRS) - wrong} of {len(PAIRS)} cases as expected")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    print_groups(Sources([Path(root) for root in sys.argv[1:]]), sys.stdin)
    return 0


if __name__ == "__main__":
    sys.exit(main())
