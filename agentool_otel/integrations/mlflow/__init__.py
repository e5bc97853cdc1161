"""MLflow Tracing: its spans, and its traces in files."""

from agentool_otel.ground.integrations import Integration, Page

INTEGRATION = Integration(
    "MLflow",
    tracers=("mlflow", "mlflow-*"),
    page=Page("MLflow", 5000, "/", "<title>MLflow</title>", takes_spans=True),
)
