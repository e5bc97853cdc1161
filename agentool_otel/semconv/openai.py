"""Names that only spans of OpenAI calls carry, baseline 2026-10.

Spec: github.com/open-telemetry/semantic-conventions-genai, `model/openai`.
"""

REQUEST_SERVICE_TIER = "openai.request.service_tier"
RESPONSE_SERVICE_TIER = "openai.response.service_tier"
RESPONSE_SYSTEM_FINGERPRINT = "openai.response.system_fingerprint"
API_TYPE = "openai.api.type"
