"""Cases: files of them, and which one a trace is a try of.

files          JSON, JSON Lines, YAML
adk_eval_sets  eval sets of Google's ADK
yaml_values    YAML as the JSON values it stands for
matching       which cases a trace is a try of
"""
