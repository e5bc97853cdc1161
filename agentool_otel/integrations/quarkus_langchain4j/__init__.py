"""Quarkus LangChain4j."""
