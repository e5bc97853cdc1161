"""Programs with several threads, killed at random moments while they record or send.

    python -m tests.kills                  200 kills in every mode, with 1, 4 and 8 threads
    python -m tests.kills 20 up lags       20 kills, in two modes
    python -m tests.kills 20 limited       under a limit that removes files all the time
    python -m tests.kills steady=600       no kill but the last: 20 MB a second for ten minutes

After a kill `recover` runs three times. No ended span may be missing, none may be told as
incomplete, and the second and the third recovery must send nothing.
"""
