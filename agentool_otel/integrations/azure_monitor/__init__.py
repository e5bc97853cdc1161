"""Azure Monitor: Application Insights and its Log Analytics workspace."""
