#: kernel = build()
from tvm.script import tirx as T


# Python itself runs these functions, too: python/tests/test_like_python.py.
def texts():
    assert "".split() == [] and " ".split() == [] and " a  b ".split() == ["a", "b"]
    assert "\ta\nb\r\v\f".split() == ["a", "b"]
    assert "".split(",") == [""] and ",".split(",") == ["", ""] and ",a,,b".split(",") == ["", "a", "", "b"]
    assert " a  b".split(" ") == ["", "a", "", "b"] and "a::b:c".split("::") == ["a", "b:c"]
    assert " \t\r\n\v\fa b\f\v\n\r\t ".strip() == "a b" and "".strip() == " ".strip() == ""
    assert "aaa".replace("aa", "b") == "ba" and "abab".replace("ab", "") == "" and "".replace("a", "b") == ""
    assert "-".join([]) == "" and "-".join(["a"]) == "a" and "".join(("a", "b")) == "ab"
    assert "@AMZ[`amz{".lower() == "@amz[`amz{" and "@AMZ[`amz{".upper() == "@AMZ[`AMZ{"
    assert "".startswith("") and not "a".startswith("ab") and "ab".startswith("a")
    assert "ab".endswith("b") and not "b".endswith("ab") and "ab".endswith("")
    assert "0189".isdigit() and not "".isdigit() and not "1/".isdigit() and not "1:".isdigit()


def lists():
    items = [0, 1, 2, 3]
    assert items.pop(0) == 0 and items.pop(-3) == 1 and items.pop() == 3 and items == [2]
    items.insert(-1, 1)
    items.insert(-9, 0)
    items.insert(9, 4)
    items.insert(3, 3)
    assert items == [0, 1, 2, 3, 4] and items.index(0) == 0 and items.index(4) == 4
    assert [1, 2, 1].count(1) == 2 and [].count(1) == 0 and (1, True, 1.0).count(1) == 3
    taken = items.copy()
    taken.reverse()
    assert taken == [4, 3, 2, 1, 0] and items == [0, 1, 2, 3, 4]
    taken.sort()
    assert taken == items
    taken.sort(key=lambda x: x % 2, reverse=True)
    assert taken == [1, 3, 0, 2, 4]
    taken.extend([7, 7])
    assert taken[5:] == [7, 7] and (3, 4).index(4) == 1
    seen = {1}
    seen.add(1)
    seen.add(2)
    assert len(seen) == 2 and seen == {2, 1}


def dicts():
    pairs = {"a": 1}
    assert pairs.get("a") == 1 and pairs.get("b") is None and pairs.get("b", 2) == 2 and len(pairs) == 1
    assert pairs.setdefault("a", 5) == 1 and pairs.setdefault("b", 2) == 2 and pairs.setdefault("c") is None
    assert list(pairs.keys()) == ["a", "b", "c"] and list(pairs.values()) == [1, 2, None]
    assert pairs.pop("a") == 1 and pairs.pop("a", 9) == 9 and list(pairs.items()) == [("b", 2), ("c", None)]
    other = pairs.copy()
    other.update({"b": 3}, d=4)
    other.update()
    assert other == {"b": 3, "c": None, "d": 4} and pairs == {"b": 2, "c": None}


def numbers():
    assert (0).bit_length() == 0 and (1).bit_length() == 1 and (-8).bit_length() == 4 and True.bit_length() == 1
    assert (2**62 - 1).bit_length() == 62 and (7 // -2, 7 % -2, -7 // 2, -7 % 2) == (-4, -1, -4, 1)
    assert (1 << 40) >> 38 == 4 and -1 >> 5 == -1 and ~5 == -6 and 6 & 3 == 2 and 6 | 3 == 7 and 6 ^ 3 == 5
    assert 2**-1 == 0.5 and 0**0 == 1 and (-2) ** 3 == -8 and 7 / 2 == 3.5 and divmod(-7, 2) == (-4, 1)
    assert round(2.5) == 2 and round(-0.5) == 0 and int(-2.7) == -2 and abs(-3) == 3 and bool(0.0) is False
    assert [*range(3, 0, -2)] == [3, 1] and [*range(0, 3, 2)] == [0, 2] and len(range(5, 2)) == 0
    assert (1 < 2 < 2) is False and (1 < 2 <= 2) is True and (0 or 5) == 5 and (0 and 5) == 0 and (not 0) is True


def slices():
    digits = "012345"
    assert digits[1:-1] == "1234" and digits[::-2] == "531" and digits[4:1:-1] == "432" and digits[9:] == ""
    assert digits[-9:2] == "01" and digits[3:3] == "" and digits[-1] == "5" and digits[0] == "0"
    assert [1, 2] * 2 == [1, 2, 1, 2] and [1] * 0 == [] and "ab" * -1 == "" and [1] + [2] == [1, 2]
    assert [1, 2] < [1, 3] and [1] < [1, 0] and not (2,) < (1, 9) and "a" < "b" and "a" < "aa"
    assert "bc" in "abcd" and "" in "a" and "ac" not in "abc" and 2 in (1, 2) and 3 not in {1: 3}


def builtins():
    assert dict([("a", 1), ("b", 2)], b=3) == {"a": 1, "b": 3} and dict({"a": 1}) == {"a": 1} and dict() == {}
    assert list(enumerate("ab", 1)) == [(1, "a"), (2, "b")] and list(enumerate([])) == []
    assert list(zip([1, 2, 3], "ab")) == [(1, "a"), (2, "b")] and list(reversed((1, 2))) == [2, 1]
    assert list(map(lambda a: -a, [5, 6])) == [-5, -6] and list(filter(None, [0, 2, ""])) == [2]
    assert sum([1, 2], 10) == 13 and sum([]) == 0 and max([1, -3], key=abs) == -3 and min([], default=7) == 7
    assert all([]) and not any([]) and any([0, 1]) and not all([1, 0])
    assert sorted([3, 1, 2], reverse=True) == [3, 2, 1] and sorted(["b", "A"]) == ["A", "b"]
    assert int("ff", 16) == 255 and int("-12") == -12 and int(True) == 1 and int() == 0 and float(2) == 2.0
    assert bool("") is False and bool([0]) is True and str(None) == "None" and str(1.0) == "1.0"
    assert isinstance(True, int) and isinstance(1, (str, int)) and not isinstance(1, str)
    assert tuple([1]) == (1,) and list("ab") == ["a", "b"] and set([1, 1]) == {1} and len({}) == 0
    assert pow(2, 5) == 32 and range(3)[-1] == 2 and 2 in range(0, 5, 2)


def assignments():
    a = b = 3
    a += b
    first, (second, *rest), *last = 1, (2, 3, 4), 5
    assert (a, b, first, second, rest, last) == (6, 3, 1, 2, [3, 4], [5])
    grid = [[0] * 2 for _ in range(2)]
    grid[1][0] = 7
    grid[0][1] -= 2
    del grid[1][1]
    assert grid == [[0, -2], [7]]
    seen = []
    for i in range(9):
        if i % 2:
            continue
        if i > 5:
            break
        seen.append(i)
    else:
        seen.append("never")
    while len(seen) < 5:
        seen += [len(seen)]
    else:
        seen.append("end")
    assert seen == [0, 2, 4, 3, 4, "end"]
    assert (-a, +b, not a, ~b) == (-6, 3, False, -4) and (a if b else 0) == 6


def build():
    texts()
    lists()
    dicts()
    numbers()
    slices()
    builtins()
    assignments()

    @T.prim_func
    def kernel(B: T.Buffer((32,), "float32")):
        T.device_entry()
        T.cta_id([1])
        B[T.thread_id([32])] = T.float32(1)

    return kernel
#--- expected
from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx

@T.prim_func
def kernel(B: T.Buffer((32,))):
    T.device_entry()
    T.cta_id([1])
    v = T.thread_id([32])
    B[v] = T.float32(1.0)
