"""Recording calls of Amazon Bedrock by boto3 and aioboto3."""
