"""MLflow Tracing: its spans, and its traces in files."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("MLflow", tracers=("mlflow", "mlflow-*"))
