"""One framework a file. A driver is a module with

    NEEDS         the modules that have to be installed
    IMPOSSIBLE    by situation, why the framework cannot be in it
    NO_USAGE      by situation, why the token counts that the server sends cannot be recorded
    DISTRIBUTIONS those whose versions are named in the table of frameworks
    TRACERS       by name, the instrumentors of other packages for the same framework, as
                  `module:Class`; optional
    DOUBLED       by tracer and situation, why a rebuild of all spans counts its calls twice;
                  optional
    VARYING       the situations in which tracers alone record now one span more and now one less;
                  optional
    TOOL          the name of `search_web` in traces, where it has another; optional
    TURNS         by situation, what the model says, where it is not what all others hear
    <situation>   a function that takes the model server's base URL, runs the framework as a user
                  would, unmodified, and returns what came of it; what it raises, passes

Frameworks are imported inside the functions only: the modules load where they are not installed.
"""
