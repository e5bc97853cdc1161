"""Settings of the documentation site: Sphinx with MyST and the theme Furo.

`poe docs` builds the site into `build/docs`. Warnings are errors, so a link to a page or an anchor
that does not exist fails the build. The pages load nothing from elsewhere.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

from generators import filled

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "agentool_otel"
html_title = "agentool_otel"
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False

smartquotes = False  # `--option` would be a dash
extensions = ["myst_parser"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
exclude_patterns = ["generators", "static"]


def setup(app: Sphinx) -> None:
    """Fill the generated parts of each page before it is parsed."""

    def fill(app: Sphinx, name: str, source: list[str]) -> None:
        source[0] = filled(source[0])

    app.connect("source-read", fill)
