"""Amazon Bedrock, by the AWS SDK."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Amazon Bedrock", patches=("botocore.client", "aiobotocore.client"))
