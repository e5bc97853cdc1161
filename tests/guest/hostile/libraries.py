"""Values of other libraries, as far as they are installed."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from typing import Any

from tests.guest.hostile.making import TOUCHED, Kinds, Refused, hostile, raises

__all__ = ["KINDS"]

KINDS = Kinds()


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

    @KINDS.named("pydantic secret")
    def _pydantic_secret() -> Any:
        import pydantic

        return pydantic.SecretStr("hunter2")

    KINDS.add(
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
            __repr__ = raises("__repr__")

        return Item

    KINDS.add(
        attrs_class=lambda: _attrs(repr=False)("a", _attrs(repr=False)("b")),
        attrs_class_without_slots=lambda: _attrs(slots=False, repr=False)("a"),
    )

if _has("msgspec"):

    @KINDS.named("msgspec struct")
    def _struct() -> Any:
        import msgspec

        return msgspec.defstruct("Row", [("id", int), ("inner", Any, None)])(1, object())


if _has("numpy"):

    def _np(make: Callable[[Any], Any]) -> Callable[[], Any]:
        def made() -> Any:
            return make(importlib.import_module("numpy"))

        return made

    KINDS.add(
        numpy_array=_np(lambda np: np.arange(6).reshape(2, 3)),
        numpy_array_of_10_million=_np(lambda np: np.zeros(10_000_000)),
        numpy_array_of_objects=_np(
            lambda np: np.array([hostile("__repr__", "__str__")(), None], dtype=object)
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

    KINDS.add(
        pandas_frame=_pd(lambda pd: pd.DataFrame({"a": [1, None], ("b", 1): ["x", "y"]})),
        pandas_frame_of_a_million_rows=_pd(lambda pd: pd.DataFrame({"a": range(1_000_000)})),
        pandas_series=_pd(lambda pd: pd.Series([1, 2], index=["a", "a"])),
        pandas_times=_pd(lambda pd: [pd.Timestamp(0), pd.NaT, pd.NA, pd.Timedelta(1)]),
    )

if _has("wrapt"):

    @KINDS.named("wrapt proxy of a hostile object")
    def _wrapt_proxy() -> Any:
        import wrapt

        return wrapt.ObjectProxy(hostile("__repr__", "__str__", "__iter__", "__len__")())


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

    @KINDS.named("detached row of an ORM")
    def _detached() -> Any:
        orm: Any = importlib.import_module("sqlalchemy.orm")
        engine, parent = _orm()
        with orm.Session(engine) as database:
            row = parent(name="a")
            database.add(row)
            database.commit()  # expires the row: each attribute now asks the database
        return row

    @KINDS.named("row of a query")
    def _row() -> Any:
        sqlalchemy: Any = importlib.import_module("sqlalchemy")
        engine, _ = _orm()
        with engine.connect() as connection:
            return connection.execute(sqlalchemy.text("select 1 as a")).one()
