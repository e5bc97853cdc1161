"""The SparkSession of the command line.

Spark's own configuration decides where work runs: `spark-submit`, `spark-defaults.conf`,
`PYSPARK_SUBMIT_ARGS`, `SPARK_REMOTE`; without any it is this machine, with all its cores.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentool_otel.errors import ConfigurationError, MissingDependencyError
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.installing import install_command
from agentool_otel.ground.optional import library

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["spark_session"]

_JAVA = 17
_HINT = (
    f"hint: install a JRE of Java {_JAVA} or newer, such as openjdk-{_JAVA}-jre-headless, or set "
    "JAVA_HOME"
)
_LOOPBACK = "127.0.0.1"
_SETTINGS = {
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "true",
    # Otherwise what is kept has 200 partitions, however small it is.
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
}
_LOCAL = {"spark.ui.enabled": "false"}


@contextmanager
def spark_session(purpose: str) -> Generator[SparkSession]:
    """Return the session that runs, else one that is started here and stopped at the end.

    Nothing of Spark is printed on stdout.

    Args:
        purpose: what needs it, at the beginning of a sentence.

    Raises:
        MissingDependencyError: pyspark, pyarrow or pandas is not installed, or too old.
        ConfigurationError: there is no Java that Spark runs on, or Spark does not start.
    """
    library("pyarrow", purpose, extra="spark")
    # Of pandas, which it does without here; printed on its first use of Arrow.
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
    library("pyspark", purpose, extra="spark")
    _check_libraries(purpose)
    from pyspark.sql import SparkSession

    if (running := SparkSession.getActiveSession()) is not None:
        yield running
        return
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        os.environ.setdefault(name, sys.executable)
    is_remote = bool(os.environ.get("SPARK_REMOTE"))
    if not is_remote:
        check_java(purpose)
    with _stdout_on_stderr():
        try:
            session = _started(is_remote)
        except Exception as error:  # of py4j, of Java's side, of gRPC
            first = str(error).strip().partition("\n")[0]
            raise ConfigurationError(f"{purpose}: Spark does not start: {first}") from error
    try:
        yield session
    finally:
        with _stdout_on_stderr():
            session.stop()


def _check_libraries(purpose: str) -> None:
    """Look for what pyspark needs for Arrow, before Java starts and its error comes late.

    Source: pyspark 4.0 to 4.3, sql/pandas/utils.py; `mapInArrow` needs pandas, too.
    """
    utils = library("pyspark.sql.pandas.utils", purpose, extra="spark", distribution="pyspark")
    for name in ("pandas", "pyarrow"):
        try:
            getattr(utils, f"require_minimum_{name}_version")()
        except ImportError as error:
            reason = str(error).strip().partition("\n")[0]
            hint = install_command("spark", name)
            raise MissingDependencyError(f"{purpose}: {reason}; hint: {hint}") from None


def _started(is_remote: bool) -> SparkSession:
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.appName("agentool-otel")
    if not is_remote:
        for name, value in _settings().items():
            builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    if not is_remote:
        session.sparkContext.setLogLevel("ERROR")
    return session


def _settings() -> dict[str, str]:
    """Return the settings that Spark's own configuration does not have."""
    from pyspark import SparkConf, SparkContext

    if not resolves():
        # Java's side looks its own name up before it has read any setting.
        os.environ.setdefault("SPARK_LOCAL_IP", _LOOPBACK)
    SparkContext._ensure_initialized()  # starts Java, which reads the configuration
    conf = SparkConf()
    wanted = dict(_SETTINGS)
    if conf.get("spark.master", "local[*]").startswith("local"):
        wanted |= _LOCAL
        if not resolves():
            wanted |= {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
    settings = {name: value for name, value in wanted.items() if not conf.contains(name)}
    # Spark has it on wherever Python starts it.
    settings["spark.ui.showConsoleProgress"] = "true" if sys.stderr.isatty() else "false"
    return settings


def resolves() -> bool:
    """Return whether the name of this machine has an address."""
    try:
        socket.gethostbyname(socket.gethostname())
    except OSError:
        return False
    return True


def check_java(purpose: str) -> None:
    """Look for a Java that Spark runs on.

    Raises:
        ConfigurationError: there is none, or an older one.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    try:
        if java is None:
            raise FileNotFoundError
        words = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        where = f"in JAVA_HOME, {home}" if home else "on the PATH"
        raise ConfigurationError(
            f"{purpose} needs Java {_JAVA} or newer, and there is none {where}; {_HINT}"
        ) from None
    version = re.compile(r'version "(?:1\.)?(\d+)').search(words.stderr + words.stdout)
    if version is not None and int(version[1]) < _JAVA:
        raise ConfigurationError(
            f"{purpose} needs Java {_JAVA} or newer, and {java} is Java {version[1]}; {_HINT}"
        )


@contextmanager
def _stdout_on_stderr() -> Generator[None]:
    """Let processes that are started write to stderr instead of stdout, which is for data."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # there is no stdout
        yield
        return
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
