"""The user's values as text: capture, and the form in which they leave the process.

    policy     what is captured, and the one decision about it
    encoding/  any value to JSON text, without calling anything of the user's
    media/     images, sounds, videos and PDFs, which are no text
    masking/   credentials in texts: how they are recognised and taken out
    fitting/   what is too large for an attribute or a span is shortened

Knows attributes and marks, but no span and no provider.
"""
