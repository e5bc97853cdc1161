"""Cases: files of them, and which one a trace is a try of.

files          all forms of a file of cases, and its faults with their lines
case_text      JSON and JSON Lines, with the line of each value
yaml_values    YAML as the JSON values it stands for, with the line of each
registry       eval sets of other packages, which are read as cases
entries        an object that should be a case, and where it stands
schema         the JSON Schema of cases, for editors
matching       which cases a trace is a try of
"""
