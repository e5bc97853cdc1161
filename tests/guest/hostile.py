"""Values that break those who look at them: what users really pass to tools and agents.

Each entry of `CORPUS` makes a fresh value. Nothing here is a test, and only the standard library is
needed: kinds that belong to another library are there when it is installed. Methods of the hostile
classes note in `TOUCHED` that they were called, because a guest has no business calling them;
those named in `HANGS` make whoever calls them wait for ever, so try them in a process of their own.
"""

from __future__ import annotations

import array
import ast
import asyncio
import collections
import contextvars
import ctypes
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import importlib.util
import io
import ipaddress
import itertools
import pathlib
import queue
import re
import socket
import subprocess
import sys
import threading
import time
import types
import unittest.mock
import uuid
import weakref
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["CORPUS", "HANGS", "TOUCHED"]

CORPUS: dict[str, Callable[[], Any]] = {}
"""What is odd about a value, to a function that makes one."""

HANGS = frozenset({"repr hangs", "iteration hangs", "attributes hang", "model dump hangs"})
"""Kinds that never answer when they are called."""

TOUCHED: list[str] = []
"""The user's methods that were called by somebody who was not asked to."""


def _kind(name: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def add(make: Callable[[], Any]) -> Callable[[], Any]:
        assert name not in CORPUS, name
        CORPUS[name] = make
        return make

    return add


def _kinds(**makers: Callable[[], Any]) -> None:
    CORPUS.update({name.replace("_", " "): make for name, make in makers.items()})


class Refused(RuntimeError):
    """What the hostile methods raise."""


def _raises(name: str) -> Callable[..., Any]:
    def method(self: object, *args: object, **kwargs: object) -> Any:
        TOUCHED.append(name)
        raise Refused(f"{name} was called")

    method.__name__ = name
    return method


def _hangs(name: str) -> Callable[..., Any]:
    def method(self: object, *args: object, **kwargs: object) -> Any:
        TOUCHED.append(name)
        while True:
            time.sleep(3600)

    method.__name__ = name
    return method


def _hostile(*methods: str, base: type = object, how: Any = _raises, **members: Any) -> Any:
    """Return a class, named after its methods, that resents every call of them."""
    body = {**members, **{method: how(method) for method in methods}}
    return type("Hostile_" + "_".join(method.strip("_") for method in methods), (base,), body)


# ------------------------------------------------------------------------------ plain structures


@_kind("circular list")
def _circular_list() -> Any:
    value: list[Any] = [1]
    value.append(value)
    return value


@_kind("circular dict")
def _circular_dict() -> Any:
    value: dict[str, Any] = {"name": "loop"}
    value["self"] = value
    return value


@_kind("two values that hold each other")
def _mutual() -> Any:
    one: dict[str, Any] = {}
    one["other"] = [{"back": one}]
    return one


def _nested(outer: Callable[[Any], Any], depth: int) -> Any:
    value: Any = "bottom"
    for _ in range(depth):
        value = outer(value)
    return value


@_kind("every level twice the one below")
def _doubled() -> Any:
    value: Any = "ha"
    for _ in range(64):  # 2**64 leaves, 64 lists
        value = [value, value]
    return value


_kinds(
    lists_5000_deep=lambda: _nested(lambda inner: [inner], 5000),
    dicts_5000_deep=lambda: _nested(lambda inner: {"next": inner}, 5000),
    tuples_5000_deep=lambda: _nested(lambda inner: (inner,), 5000),
    list_of_300_000=lambda: list(range(300_000)),
    dict_of_100_000=lambda: {str(i): [i] for i in range(100_000)},
    text_of_20_MB=lambda: "x" * 20_000_000,
    text_of_20_MB_beyond_ASCII=lambda: "\N{PARTY POPPER}é" * 3_400_000,
    bytes_of_20_MB=lambda: bytes(20_000_000),
    not_a_number=lambda: {"score": float("nan")},
    infinities=lambda: [float("inf"), float("-inf")],
    keys_that_are_tuples=lambda: {(1, 2): "a", ("x", None): "b"},
    keys_of_all_kinds=lambda: {
        7: "a",
        None: "b",
        True: "c",
        2.5: "d",
        b"\xff": "e",
        frozenset(): 1,
    },
    key_that_is_an_object=lambda: {object(): 1},
    integer_of_20_000_bits=lambda: 1 << 20_000,
    integer_beyond_64_bits=lambda: [2**64, -(2**70)],
    lone_surrogate=lambda: "half \ud83d of it",
    lone_surrogate_as_key=lambda: {"\udce9": ["\udfff"]},
    control_characters=lambda: "\0\x1b[31m\x7f\u2028\ufeff",
    bytes_that_are_no_text=lambda: b"\xff\xfe\x00",
    bytearray=lambda: bytearray(b"abc"),
    memoryview=lambda: memoryview(b"abc"),
    memoryview_of_numbers=lambda: memoryview(array.array("d", [1.0, 2.0])),
    set=lambda: {1, "a", (2, 3)},
    frozenset=lambda: frozenset({frozenset({1}), 2}),
    deque=lambda: collections.deque([1, [2]], maxlen=5),
    range_of_a_trillion=lambda: range(10**12),
    complex=lambda: 1 + 2j,
    ellipsis=lambda: [..., NotImplemented],
)


@_kind("released memoryview")
def _released() -> Any:
    view = memoryview(b"abc")
    view.release()
    return view


# ----------------------------------------------------------------------- values of the library


class Colour(enum.Enum):
    RED = "red"
    ODD = (1, object())


class Flags(enum.IntFlag):
    A = 1
    B = 2


class Point(NamedTuple):
    x: int
    y: Any = None


@dataclasses.dataclass
class Order:
    id: int
    lines: list[Any] = dataclasses.field(default_factory=list)

    @property
    def total(self) -> int:
        TOUCHED.append("total")
        raise Refused("total was called")


@dataclasses.dataclass(frozen=True)
class Slotted:
    __slots__ = ("x",)
    x: int


@_kind("dataclass with a field that was never set")
def _half_made() -> Any:
    value = Slotted(1)
    object.__delattr__(value, "x")
    return value


@_kind("dataclass that holds itself")
def _order_loop() -> Any:
    order = Order(1)
    order.lines.append(order)
    return order


class OddZone(datetime.tzinfo):
    utcoffset = dst = tzname = _raises("utcoffset")


_kinds(
    datetime=lambda: datetime.datetime(2026, 11, 21, 1, 2, 3, 456),
    datetime_with_zone=lambda: datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc),
    datetime_with_a_zone_that_raises=lambda: datetime.datetime(2026, 1, 1, tzinfo=OddZone()),
    date_and_time=lambda: [datetime.date(2026, 1, 1), datetime.time(1, 2), datetime.timedelta(1)],
    decimal=lambda: decimal.Decimal("1.10"),
    decimals_that_signal=lambda: [decimal.Decimal("sNaN"), decimal.Decimal("Infinity")],
    fraction=lambda: fractions.Fraction(1, 3),
    uuid=lambda: uuid.UUID(int=7),
    path=lambda: pathlib.Path("/tmp/a b"),
    pure_path=lambda: pathlib.PureWindowsPath("C:/x"),
    ip_address=lambda: ipaddress.ip_network("10.0.0.0/8"),
    enum=lambda: Colour.RED,
    enum_of_an_object=lambda: Colour.ODD,
    flags=lambda: Flags.A | Flags.B,
    named_tuple=lambda: Point(1, [2]),
    dataclass=lambda: Order(1, [Order(2)]),
    dataclass_with_slots=lambda: Slotted(1),
    ordered_dict=lambda: collections.OrderedDict(a=1),
    default_dict=lambda: collections.defaultdict(list, a=[1]),
    counter=lambda: collections.Counter("aab"),
    chain_map=lambda: collections.ChainMap({"a": 1}, {"b": 2}),
    user_dict=lambda: collections.UserDict({"a": 1}),
    mapping_proxy=lambda: types.MappingProxyType({"a": 1}),
    dict_views=lambda: [{"a": 1}.keys(), {"a": 1}.values(), {"a": 1}.items()],
    namespace=lambda: types.SimpleNamespace(a=1),
    array=lambda: array.array("i", [1, 2]),
    ctypes_structure=lambda: ctypes.c_int(3),
    pattern_and_match=lambda: [re.compile("a+"), re.match("a+", "aa")],
    struct_time=lambda: time.gmtime(0),
    syntax_tree=lambda: ast.parse("x = 1"),
    completed_process=lambda: subprocess.CompletedProcess(["ls"], 0, "out"),
)

# ------------------------------------------------------------- things with a state of their own


def _counting() -> Generator[int, None, None]:
    for number in range(3):
        TOUCHED.append("next")
        yield number


async def _counting_async() -> AsyncGenerator[int, None]:
    TOUCHED.append("anext")
    yield 1


class Reader:
    """An iterator that is used up by looking."""

    def __iter__(self) -> Iterator[int]:
        TOUCHED.append("__iter__")
        return self

    def __next__(self) -> int:
        TOUCHED.append("__next__")
        return 1


@_kind("queue with an item")
def _queue() -> Any:
    made: queue.Queue[int] = queue.Queue()
    made.put(1)
    return made


@_kind("simple queue with an item")
def _simple_queue() -> Any:
    made: queue.SimpleQueue[int] = queue.SimpleQueue()
    made.put(1)
    return made


@_kind("held lock")
def _held() -> Any:
    lock = threading.Lock()
    lock.acquire()
    return lock


class Target:
    """Something weak references can point to."""


_alive = Target()


@_kind("proxy of an object that is gone")
def _dead_proxy() -> Any:
    return weakref.proxy(Target())


@_kind("closed file")
def _closed_file() -> Any:
    file = io.StringIO("text")
    file.close()
    return file


@_kind("closed socket")
def _closed_socket() -> Any:
    with socket.socket() as made:
        return made


@_kind("exception with a cause")
def _caused() -> Any:
    try:
        try:
            raise ValueError("inner")
        except ValueError as error:
            raise KeyError("outer") from error
    except KeyError as error:
        return error


@_kind("traceback and frame")
def _traceback() -> Any:
    try:
        raise ValueError
    except ValueError as error:
        return [error.__traceback__, sys._getframe()]


_kinds(
    generator=_counting,
    iterator=lambda: iter([1, 2, 3]),
    iterator_used_up_by_looking=Reader,
    endless_iterator=itertools.count,
    endless_map=lambda: map(abs, itertools.count()),
    async_generator=_counting_async,
    asyncio_queue=asyncio.Queue,
    lock=threading.Lock,
    recursive_lock=threading.RLock,
    event=threading.Event,
    thread=lambda: threading.Thread(target=print),
    thread_local=threading.local,
    text_stream=lambda: io.StringIO("text"),
    byte_stream=lambda: io.BytesIO(b"bytes"),
    weak_reference=lambda: weakref.ref(_alive),
    dead_weak_reference=lambda: weakref.ref(Target()),
    proxy=lambda: weakref.proxy(_alive),
    weak_dictionary=lambda: weakref.WeakValueDictionary({"a": _alive}),
    context=contextvars.copy_context,
    context_variable=lambda: contextvars.ContextVar("v"),
    class_itself=lambda: Order,
    builtin_type=lambda: [int, type, type(None)],
    generic_alias=lambda: [list[int], dict[str, Any]],
    function=lambda: _counting,
    anonymous_function=lambda: lambda: None,
    method=lambda: Order(1).__eq__,
    builtin_function=lambda: print,
    partial=lambda: functools.partial(print, "a"),
    module=lambda: sys,
    exception=lambda: ValueError("bad", 1),
    plain_object=object,
)

# ------------------------------------------------------------------------------- hostile classes

_kinds(
    repr_raises=_hostile("__repr__", "__str__", "__format__"),
    equality_raises=_hostile("__eq__", "__ne__", "__lt__", __hash__=object.__hash__),
    hash_raises=_hostile("__hash__"),
    truth_raises=_hostile("__bool__", "__len__"),
    iteration_raises=_hostile("__iter__", "__next__", "__len__", "__getitem__"),
    attributes_raise=_hostile("__getattr__"),
    every_attribute_raises=_hostile("__getattribute__"),
    directory_raises=_hostile("__dir__", "__sizeof__"),
    copying_raises=_hostile("__copy__", "__deepcopy__", "__reduce_ex__", "__getstate__"),
    conversions_raise=_hostile("__int__", "__float__", "__index__", "__bytes__"),
    json_hooks_raise=_hostile("__json__", "to_json", "to_dict", "dict", "json"),
    model_dump_raises=_hostile("model_dump", "model_dump_json"),
    array_hooks_raise=_hostile("__array__", "__array_interface__", "tolist", "item"),
    repr_hangs=_hostile("__repr__", "__str__", how=_hangs),
    iteration_hangs=_hostile("__iter__", "__len__", "__getitem__", how=_hangs),
    attributes_hang=_hostile("__getattr__", how=_hangs),
    model_dump_hangs=_hostile("model_dump", "to_dict", how=_hangs),
    text_of_a_hostile_class=lambda: _hostile(
        "__str__",
        "__repr__",
        "encode",
        "__len__",
        "__iter__",
        "__eq__",
        base=str,
        __hash__=str.__hash__,
    )("text"),
    bytes_of_a_hostile_class=lambda: _hostile("__len__", "__iter__", "hex", base=bytes)(b"b"),
    integer_of_a_hostile_class=lambda: _hostile("__repr__", "__str__", "__int__", base=int)(3),
    float_of_a_hostile_class=lambda: _hostile("__repr__", "__str__", "__float__", base=float)(1.5),
    list_of_a_hostile_class=lambda: _hostile(
        "__iter__", "__len__", "__getitem__", "__repr__", base=list
    )([1, 2]),
    tuple_of_a_hostile_class=lambda: _hostile(
        "__iter__", "__len__", "__getitem__", "__repr__", base=tuple
    )([1, 2]),
    set_of_a_hostile_class=lambda: _hostile("__iter__", "__len__", "__contains__", base=set)([1]),
    dict_of_a_hostile_class=lambda: _hostile(
        "__iter__", "__len__", "__getitem__", "items", "keys", "values", "get", base=dict
    )(a=1),
    exception_without_text=lambda: _hostile("__str__", "__repr__", base=Exception)("bad"),
    values_inside_a_list=lambda: [_hostile("__repr__", "__eq__", "__hash__")() for _ in range(3)],
)


class HostileMeta(type):
    """Makes even the class unpleasant to look at."""

    def __getattribute__(cls, name: str) -> Any:
        TOUCHED.append(f"{name} of the class")
        raise Refused(f"{name} of the class was read")

    def __instancecheck__(cls, instance: object) -> bool:
        raise Refused("isinstance was asked")

    def __repr__(cls) -> str:
        raise Refused("the class was shown")


class OfHostileMeta(metaclass=HostileMeta):
    pass


@_kind("key with a hash that turned hostile")
def _key_turned() -> Any:
    class Key:
        hostile = False

        def __hash__(self) -> int:
            if type(self).hostile:
                TOUCHED.append("__hash__")
                raise Refused("__hash__ was called")
            return 1

        __str__ = __repr__ = _raises("__repr__")

    value = {Key(): 1}
    Key.hostile = True
    return value


class EndlessMapping(Mapping[str, int]):
    """A mapping that looks things up somewhere else, without end."""

    def __getitem__(self, key: str) -> int:
        TOUCHED.append("__getitem__")
        return 1

    def __iter__(self) -> Iterator[str]:
        TOUCHED.append("__iter__")
        return map(str, itertools.count())

    def __len__(self) -> int:
        TOUCHED.append("__len__")
        return 1


class EndlessSequence(Sequence[int]):
    def __getitem__(self, index: Any) -> Any:
        TOUCHED.append("__getitem__")
        return 1

    def __len__(self) -> int:
        TOUCHED.append("__len__")
        return 2**62


class Lazy:
    """An object that fetches when it is looked at, as clients and ORMs do."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        TOUCHED.append(name)
        return Lazy()

    def __call__(self, *args: object, **kwargs: object) -> Lazy:
        TOUCHED.append("__call__")
        return Lazy()


_kinds(
    claims_to_be_text=_hostile("__str__", __class__=property(lambda self: str)),
    hostile_metaclass=OfHostileMeta,
    class_with_a_hostile_metaclass=lambda: OfHostileMeta,
    endless_mapping=EndlessMapping,
    endless_sequence=EndlessSequence,
    lazy_object=Lazy,
    dict_attribute_is_a_property=_hostile("__str__", __dict__=property(_raises("__dict__"))),
    mock=unittest.mock.MagicMock,
    mock_with_a_specification=lambda: unittest.mock.create_autospec(Order, instance=True),
)

# ------------------------------------------------------------------- values of other libraries


def _has(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


if _has("pydantic"):

    def _pydantic_model(extra: Any = None) -> Any:
        import pydantic

        class Account(pydantic.BaseModel):
            model_config = pydantic.ConfigDict(extra=extra)
            name: str
            tags: set[str] = set()
            anything: Any = None
            secret: pydantic.SecretStr = pydantic.SecretStr("hunter2")

            @pydantic.computed_field  # type: ignore[prop-decorator] # mypy knows no decorated property
            @property
            def balance(self) -> int:
                TOUCHED.append("balance")
                raise Refused("balance was called")

            @pydantic.model_serializer
            def _serialised(self) -> dict[str, Any]:
                TOUCHED.append("model_serializer")
                raise Refused("model_serializer was called")

        return Account

    @_kind("pydantic secret")
    def _pydantic_secret() -> Any:
        import pydantic

        return pydantic.SecretStr("hunter2")

    _kinds(
        pydantic_model=lambda: _pydantic_model()(name="a", tags={"x"}),
        pydantic_model_with_extras=lambda: _pydantic_model(extra="allow")(name="a", more=[1]),
        pydantic_model_that_was_not_validated=lambda: _pydantic_model().model_construct(),
        pydantic_class=_pydantic_model,
    )

if _has("attrs"):

    def _attrs(**options: Any) -> Any:
        import attrs

        @attrs.define(**options)
        class Item:
            name: str
            inner: Any = None
            __repr__ = _raises("__repr__")

        return Item

    _kinds(
        attrs_class=lambda: _attrs(repr=False)("a", _attrs(repr=False)("b")),
        attrs_class_without_slots=lambda: _attrs(slots=False, repr=False)("a"),
    )

if _has("msgspec"):

    @_kind("msgspec struct")
    def _struct() -> Any:
        import msgspec

        return msgspec.defstruct("Row", [("id", int), ("inner", Any, None)])(1, object())


if _has("numpy"):

    def _np(make: Callable[[Any], Any]) -> Callable[[], Any]:
        def made() -> Any:
            return make(importlib.import_module("numpy"))

        return made

    _kinds(
        numpy_array=_np(lambda np: np.arange(6).reshape(2, 3)),
        numpy_array_of_10_million=_np(lambda np: np.zeros(10_000_000)),
        numpy_array_of_objects=_np(
            lambda np: np.array([_hostile("__repr__", "__str__")(), None], dtype=object)
        ),
        numpy_array_with_nan=_np(lambda np: np.array([1.0, np.nan, np.inf])),
        numpy_array_not_contiguous=_np(lambda np: np.arange(10)[::-2]),
        numpy_record_array=_np(lambda np: np.array([(1, "a")], dtype=[("n", "i4"), ("s", "U1")])),
        numpy_scalars=_np(
            lambda np: [
                np.int64(1),
                np.float32(0.5),
                np.bool_(True),
                np.datetime64("NaT", "s"),
                np.str_("s"),
            ]
        ),
        keys_that_are_numpy_integers=_np(lambda np: {np.int64(1): "a"}),
    )

if _has("pandas"):

    def _pd(make: Callable[[Any], Any]) -> Callable[[], Any]:
        def made() -> Any:
            return make(importlib.import_module("pandas"))

        return made

    _kinds(
        pandas_frame=_pd(lambda pd: pd.DataFrame({"a": [1, None], ("b", 1): ["x", "y"]})),
        pandas_frame_of_a_million_rows=_pd(lambda pd: pd.DataFrame({"a": range(1_000_000)})),
        pandas_series=_pd(lambda pd: pd.Series([1, 2], index=["a", "a"])),
        pandas_times=_pd(lambda pd: [pd.Timestamp(0), pd.NaT, pd.NA, pd.Timedelta(1)]),
    )

if _has("wrapt"):

    @_kind("wrapt proxy of a hostile object")
    def _wrapt_proxy() -> Any:
        import wrapt

        return wrapt.ObjectProxy(_hostile("__repr__", "__str__", "__iter__", "__len__")())


if _has("sqlalchemy"):

    @functools.cache
    def _orm() -> Any:
        sqlalchemy: Any = importlib.import_module("sqlalchemy")
        orm: Any = importlib.import_module("sqlalchemy.orm")
        base: Any = orm.declarative_base()

        class Line(base):  # type: ignore[misc]
            __tablename__ = "line"
            id = sqlalchemy.Column(sqlalchemy.Integer, primary_key=True)
            parent_id = sqlalchemy.Column(sqlalchemy.ForeignKey("parent.id"))

        class Parent(base):  # type: ignore[misc]
            __tablename__ = "parent"
            id = sqlalchemy.Column(sqlalchemy.Integer, primary_key=True)
            name = sqlalchemy.Column(sqlalchemy.String)
            lines = orm.relationship(Line)

        engine = sqlalchemy.create_engine(
            "sqlite://",
            poolclass=sqlalchemy.pool.StaticPool,
            connect_args={"check_same_thread": False},
        )
        base.metadata.create_all(engine)
        return engine, Parent

    @_kind("detached row of an ORM")
    def _detached() -> Any:
        orm: Any = importlib.import_module("sqlalchemy.orm")
        engine, parent = _orm()
        with orm.Session(engine) as database:
            row = parent(name="a")
            database.add(row)
            database.commit()  # expires the row: each attribute now asks the database
        return row

    @_kind("row of a query")
    def _row() -> Any:
        sqlalchemy: Any = importlib.import_module("sqlalchemy")
        engine, _ = _orm()
        with engine.connect() as connection:
            return connection.execute(sqlalchemy.text("select 1 as a")).one()
