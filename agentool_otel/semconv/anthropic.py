"""Names that the conventions do not have and Anthropic's SDK writes on its own spans.

Source: anthropic 2.12 `_tracing.py`, `SPAN_ATTRIBUTES`.
"""

REQUEST_SERVICE_TIER = "anthropic.request.service_tier"
RESPONSE_SERVICE_TIER = "anthropic.response.service_tier"
THINKING_TYPE = "anthropic.thinking.type"
THINKING_BUDGET_TOKENS = "anthropic.thinking.budget_tokens"
